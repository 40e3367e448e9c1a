import numpy as np

from gnnsync.cli.locate.summary import summarize_positions, summary_text
from gnnsync.positions import Positions
from tests.located import located


def summary_of(network, positions):
    figures = summarize_positions(network, positions)
    return {"file": "d.csv", "method": "auto", "seconds_read": 0.1, **figures}


def test_figures_of_a_summary():
    network, positions = located()
    found = summary_of(network, positions)
    assert (found["points"], found["distances"], found["localizable"]) == (5, 7, 4)
    assert found["rejected"] == 1
    (worst,) = found["worst_distances"]
    assert (worst["i"], worst["j"], round(worst["residual"], 6)) == ("b", "d", -3.0)
    assert found["not_localizable"] == ["=e"]
    assert found["reasons"] == {"fewer than three distances": 1}
    assert round(found["radius_worst"], 3) == 0.490
    assert found["noise"] is None  # five distances for four points: none to spare


def test_the_summary_in_words():
    text = summary_text(summary_of(*located()))
    assert text.splitlines() == [
        "points      5, 4 of them localizable",
        "distances   7, 1 of them rejected",
        "frame       free: any place, orientation and mirror image",
        "method      auto, converged: as made",
        "noise       unknown: no more distances than they need",
        "95 % radius 0.49 for the median point, 0.49 for the worst, a",
        "no place    1 points: 1 with fewer than three distances (=e)",
        "time        0.10 s to read, 0.50 s to solve",
        "worst distances",
        "  b - d  measured 8  on the map 5",
    ]


def test_noise_is_relative_and_in_units_of_the_stated_deviation():
    network, positions = located(shift=0.0)
    network = network.replace(
        deviation=0.1 * network.distance, distance=network.distance * np.where(PLUS, 1.1, 0.9)
    )
    positions = positions.replace(edge_confidence=np.ones(7), localizable=np.ones(5, bool))
    assert summarize_positions(network, positions)["noise"] is None  # 7 distances, 7 unknowns
    positions = positions.replace(localizable=np.array([True] * 4 + [False]))
    found = summarize_positions(network, positions)
    good = network.residual(positions.points)[:6]
    assert found["noise"] == float(np.sqrt(np.sum((good / network.distance[:6]) ** 2)))
    assert found["noise_stated"] == float(np.sqrt(np.sum((good / network.deviation[:6]) ** 2)))


def test_noise_is_unknown_without_localizable_points():
    network, positions = located()
    found = summarize_positions(network, positions.replace(localizable=np.zeros(5, bool)))
    assert (found["noise"], found["radius_worst"]) == (None, None)


PLUS = np.arange(7) % 2 == 0


def test_the_frame_is_that_of_the_anchors():
    network, positions = located()
    frames = []
    for count in (1, 2, 3):
        chosen = np.arange(count)
        known = network.replace(anchors=chosen, anchor_positions=network.points[:count])
        frames.append(summary_text(summary_of(known, positions)).splitlines()[3])
    assert [line[12:] for line in frames] == [
        "one anchor: any orientation and mirror image",
        "two anchors: either mirror image",
        "that of the anchors",
    ]


def test_components_and_flexible_parts_are_named():
    network, positions = located()
    apart = network.keep_edges(np.arange(6))
    loose = positions.replace(
        localizable=np.zeros(5, bool),
        edge_confidence=np.ones(6),
        covariance=np.full((5, 2, 2), np.nan),
    )
    found = summary_of(apart, loose)
    text = summary_text(found)
    assert "2 components without distances between them, 0 of them fixed" in text
    assert "4 with a part that can move or flip against the rest" in text
    assert "95 % radius" not in text
    assert isinstance(loose, Positions)
