import os
import subprocess
import sys

import numpy as np
import pytest

import gnnsync
from gnnsync import Solution
from gnnsync.plots.solution import solution_figure
from tests.plots.images import image


@pytest.mark.parametrize("k", [1, 2])
def test_panels_with_and_without_the_graph(make_multigraph, k):
    graph = make_multigraph(0, connected=True)
    solution = Solution.from_angles(graph, np.tile(graph.angles, (1, k)))
    assert len(solution_figure(solution).axes) == 2
    figure = solution.plot(graph)
    assert len(figure.axes) == 3
    assert "residuals of 51 edges" in figure.axes[0].get_title()
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == graph.num_edges
    assert image(figure).std() > 0


def test_a_graph_without_edges():
    graph = gnnsync.MeasurementGraph(np.empty((2, 0), dtype=int), np.empty(0), 3)
    solution = Solution.from_angles(graph, np.zeros(3))
    figure = solution_figure(solution, graph)
    assert figure.axes[1].get_title() == "angles of 3 nodes, 3 components"
    assert image(figure).std() > 0


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
