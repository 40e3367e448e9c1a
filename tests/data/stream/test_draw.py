import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnsync.angles import wrap
from gnnsync.data.stream import GraphLaw, numbered_graph
from gnnsync.data.stream.draw import LARGEST_ETA
from gnnsync.errors import ParameterError

LAW = GraphLaw()
FIELDS = ("edge_index", "offset", "weight", "trusted", "angles", "group")


def assert_same(first, second):
    for name in FIELDS:
        a, b = getattr(first, name), getattr(second, name)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a, b)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), number=st.integers(0, 2**40))
def test_a_graph_is_connected_within_bounds_and_drawn_by_its_number_alone(seed, number):
    graph = numbered_graph(LAW, seed, number)
    assert_same(graph, numbered_graph(GraphLaw(), seed, number))
    assert graph.is_connected
    assert graph.num_parallel == 0
    assert 30 <= graph.num_nodes <= 400
    k = graph.angles.shape[1]
    assert 1 <= k <= 4
    # Links that join components come on top.
    assert graph.num_edges * k <= 1.05 * LAW.max_edges
    if graph.trusted is not None:
        assert (graph.group[graph.trusted] >= 0).all()


def test_numbers_and_seeds_give_different_graphs():
    offsets = [numbered_graph(LAW, s, i).offset[:5].tobytes() for s in range(3) for i in range(20)]
    assert len(set(offsets)) == len(offsets)


def test_the_number_of_groups_can_be_given():
    assert {numbered_graph(LAW, 0, i, k=3).angles.shape[1] for i in range(10)} == {3}


def test_shares_are_those_of_the_law():
    graphs = [numbered_graph(LAW, 5, i) for i in range(400)]
    four_deviations = 4 * np.sqrt(0.25 / 400)
    k = np.array([g.angles.shape[1] for g in graphs])
    for groups, weight in LAW.groups.items():
        assert (k == groups).mean() == pytest.approx(weight, abs=four_deviations)
    weighted = [g.weight for g in graphs if g.weight is not None]
    assert len(weighted) / 400 == pytest.approx(LAW.weighted, abs=four_deviations)
    assert np.concatenate(weighted).mean() == pytest.approx(1.0, abs=0.05)
    trusted = np.mean([g.trusted is not None for g in graphs])
    assert trusted == pytest.approx(LAW.trusted, abs=four_deviations)


def test_the_signal_is_within_its_range():
    law = GraphLaw(families={"erdos_renyi": 1}, nodes=(300, 400), degree=(30, 60))
    signals = []
    for number in range(200):
        graph = numbered_graph(law, 0, number)
        share = (graph.group == 0).mean()
        signals.append(2 * graph.num_edges / graph.num_nodes * share**2)
    low, high = np.quantile(signals, [0.02, 0.98])
    assert 0.8 < low < 1.4
    assert 8 < high < 36


def test_the_share_of_outliers_is_bounded():
    law = GraphLaw(signal=(0.001, 0.001), spatial_signal=(0.001, 0.001))
    shares = [(numbered_graph(law, 0, i).group < 0).mean() for i in range(30)]
    assert max(shares) < LARGEST_ETA + 0.05


def test_inliers_measure_the_truth():
    law = GraphLaw(inlier_laws={"exact": 1})
    for number in range(20):
        graph = numbered_graph(law, 0, number)
        inlier = graph.group >= 0
        residual = graph.residual(graph.angles)[inlier, graph.group[inlier]]
        assert np.abs(wrap(residual)).max() < 1e-9


def test_the_noise_of_inliers_is_in_the_range():
    law = GraphLaw(inlier_laws={"normal": 1}, weighted=1.0, sigma=(0.1, 0.1))
    scaled = []
    for number in range(30):
        graph = numbered_graph(law, 0, number)
        inlier = graph.group >= 0
        residual = graph.residual(graph.angles)[inlier, graph.group[inlier]]
        scaled.append(residual * np.sqrt(graph.weight[inlier]))
    assert np.concatenate(scaled).std() == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("nodes", (3, 10)),
        ("nodes", (40, 30)),
        ("sigma", (0.1,)),
        ("families", {"trees": 1.0}),
        ("families", {"grid": 0.0}),
        ("groups", {0: 1.0}),
        ("priors", {"uniform": -1.0}),
        ("trusted", 1.5),
        ("trusted_share", (0.5, 2.0)),
    ],
)
def test_errors_name_the_field(field, value):
    with pytest.raises(ParameterError, match=field):
        GraphLaw(**{field: value})


def test_seeds_are_checked():
    with pytest.raises(ParameterError, match="seed = -1"):
        numbered_graph(LAW, -1, 0)
    with pytest.raises(ParameterError, match="seed"):
        numbered_graph(LAW, 2**32, 0)
