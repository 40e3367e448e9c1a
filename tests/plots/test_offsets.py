import numpy as np
import pytest
from matplotlib.figure import Figure

from gnnsync import MeasurementGraph, Solution
from gnnsync.plots.offsets import MOST_PANELS, draw_offsets
from gnnsync.units import DEGREES, RADIANS


def pairs(components):
    """Components of two nodes and one edge each."""
    index = np.arange(2 * components).reshape(-1, 2).T
    offset = np.linspace(0.1, 6.0, components)
    graph = MeasurementGraph(index, offset, 2 * components)
    angles = np.zeros(2 * components)
    angles[::2] = offset
    return graph, Solution.from_angles(graph, angles)


@pytest.mark.parametrize("components", [1, 2, 4, 9])
def test_a_panel_for_each_component_and_one_for_the_rest(components):
    graph, solution = pairs(components)
    figure = Figure()
    draw_offsets(figure, solution, graph, RADIANS)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == min(components, MOST_PANELS)
    if components > MOST_PANELS:
        assert shown[-1].get_title() == "6 other components: 6 edges"
    points = np.concatenate([a.get_offsets() for axes in shown for a in axes.collections])
    assert len(points) == components
    assert np.allclose(points[:, 0], points[:, 1])  # exact offsets are on the diagonal


def test_many_edges_are_a_density(monkeypatch):
    monkeypatch.setattr("gnnsync.plots.offsets.MANY_MARKS", 3)
    graph, solution = pairs(9)
    figure = Figure()
    draw_offsets(figure, solution, graph, DEGREES)
    assert np.nansum(figure.axes[-1].images[0].get_array()) == 6
    assert figure.axes[0].get_xlim() == (0, 360)
