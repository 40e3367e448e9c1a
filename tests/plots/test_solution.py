import os
import subprocess
import sys

import numpy as np
import pytest

import gnnsync
from gnnsync import MeasurementGraph, Solution
from gnnsync.errors import GraphError
from gnnsync.plots.solution import solution_figure, solution_panels
from gnnsync.units import DEGREES
from tests.plots.images import image


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


@pytest.mark.parametrize("k", [1, 2])
def test_panels_with_and_without_the_graph(make_multigraph, k):
    graph = make_multigraph(0, connected=True)
    solution = Solution.from_angles(graph, np.tile(graph.angles, (1, k)))
    bare = solution_figure(solution)
    assert titles(bare) == ["angles of 12 nodes (rad)", "confidence of the edges"]
    figure = solution.plot(graph, title="offsets.csv by gpm")
    assert list(solution_panels(solution, graph)) == [
        "residuals",
        "peak",
        "offsets",
        "angles",
        "edges",
        "nodes",
    ]
    assert "residuals of 51 edges" in titles(figure)
    assert figure.get_suptitle() == "offsets.csv by gpm"
    assert image(figure).std() > 0


def test_a_graph_without_edges():
    graph = gnnsync.MeasurementGraph(np.empty((2, 0), dtype=int), np.empty(0), 3)
    solution = Solution.from_angles(graph, np.zeros(3))
    figure = solution_figure(solution, graph)
    assert "angles of 3 nodes, 3 components (rad)" in titles(figure)
    assert image(figure).std() > 0


def test_groups_have_colours_of_their_own(make_multigraph):
    graph = make_multigraph(0, connected=True)
    solution = Solution.from_angles(graph, np.tile(graph.angles, (1, 3)))
    polar = next(axes for axes in solution.plot(graph).axes if axes.name == "polar")
    assert len({line.get_color() for line in polar.get_lines()}) == 3


def test_unknown_confidences_have_a_bar_of_their_own():
    """A tree: nothing checks its edges."""
    graph = MeasurementGraph(np.array([[0, 1, 1], [1, 2, 3]]), np.zeros(3), 4)
    figure = gnnsync.solve(graph).plot(graph)
    edges = next(axes for axes in figure.axes if axes.get_title() == "confidence of the edges")
    assert edges.get_legend().get_texts()[0].get_text() == "unknown (3)"
    assert edges.get_xticklabels()[-1].get_text() == "?"


def test_axes_are_in_the_unit(make_multigraph):
    graph = make_multigraph(0, connected=True)
    solution = Solution.from_angles(graph, graph.angles)
    figure = solution.plot(graph, unit=DEGREES)
    residuals = figure.axes[0]
    assert residuals.get_xlim() == (-180, 180)
    assert "(°)" in residuals.get_xlabel()


def test_coordinates_must_fit(make_multigraph):
    graph = make_multigraph(0, connected=True)
    with pytest.raises(GraphError, match=r"coordinates have shape \(2, 2\)"):
        Solution.from_angles(graph, graph.angles).plot(graph, coordinates=np.zeros((2, 2)))


def test_drawing_leaves_pyplot_alone():
    """Figures of pyplot would pile up in long runs, and may look for a display."""
    code = (
        "import sys, numpy as np, gnnsync;"
        "g = gnnsync.MeasurementGraph(np.array([[0], [1]]), np.ones(1), 2);"
        "gnnsync.Solution.from_angles(g, np.zeros(2)).plot(g).savefig(sys.argv[1], format='png');"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    command = [sys.executable, "-c", code, os.devnull]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
