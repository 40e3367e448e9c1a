import numpy as np
import pytest
from matplotlib.collections import EllipseCollection, LineCollection, PathCollection

from gnnsync.errors import ParameterError
from gnnsync.plots.positions import error_figure, positions_figure
from tests.located import located
from tests.plots.images import image


def labels(figure, kind):
    return [part.get_label() for part in figure.axes[0].collections if isinstance(part, kind)]


def test_the_map_shows_points_ellipses_and_what_was_rejected():
    network, positions = located(shift=0.3)
    figure = positions_figure(network, positions, title="a map")
    assert labels(figure, PathCollection) == ["located (4)", "not determined (1)"]
    assert labels(figure, LineCollection)[1:] == ["rejected distances (1)", "to the true place"]
    (ellipses,) = (p for p in figure.axes[0].collections if isinstance(p, EllipseCollection))
    assert len(ellipses.get_offsets()) == 4
    assert figure.axes[0].get_title() == "a map"
    assert image(figure).std() > 0.05


def test_ellipses_have_the_half_axes_of_95_percent():
    _, positions = located()
    half, direction = positions.ellipses
    np.testing.assert_allclose(half[0], 2.4477 * np.array([0.2, 0.1]), rtol=1e-4)
    assert direction[0] % np.pi == pytest.approx(0.0)
    assert np.isnan(half[4]).all()
    turned = positions.replace(covariance=positions.covariance[:, ::-1, ::-1])
    assert turned.ellipses[1][0] % np.pi == pytest.approx(np.pi / 2)


def test_anchors_are_marked_and_truth_is_optional():
    network, positions = located(truth=False)
    network = network.replace(anchors=np.array([1]), anchor_positions=np.array([[4.0, 0.0]]))
    figure = positions_figure(network, positions)
    assert labels(figure, PathCollection) == ["located (3)", "not determined (1)", "anchors (1)"]
    assert "to the true place" not in labels(figure, LineCollection)


def test_points_without_any_position_are_said():
    network, positions = located()
    figure = positions_figure(network, positions.replace(points=np.full((5, 2), np.nan)))
    assert figure.axes[0].texts[0].get_text() == "no point has a position"


def test_errors_are_drawn_against_their_ellipses():
    network, positions = located(shift=0.3)
    figure = error_figure(network, positions)
    assert figure.axes[0].get_title() == "100.0% of the points are below the line"
    figure = error_figure(network, located(shift=0.6)[1])
    assert figure.axes[0].get_title() == "0.0% of the points are below the line"
    exact = error_figure(network, located()[1])
    assert "no point has both" in exact.axes[0].texts[0].get_text()


def test_positions_plot_themselves_moved_onto_the_truth():
    network, positions = located(shift=5.0)
    offsets = positions.plot(network).axes[0].collections[-2].get_offsets()
    np.testing.assert_allclose(offsets, network.points[:4], atol=1e-9)
    with pytest.raises(ParameterError, match="must be the network that was located"):
        positions.plot(network.keep_edges([0, 1]))
