import io
import os
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

import gnnsync
from gnnsync.plots.maps import error_figure, map_grid, pipeline_figure


def image(figure):
    """The picture as an array, drawn without a display."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=40)
    target.seek(0)
    return matplotlib.image.imread(target)


def test_grid_has_a_row_per_noise_and_a_column_per_method(rng):
    truth = rng.normal(size=(20, 2))
    recovered = {
        (f"η = {eta}", method): truth + eta * rng.normal(size=(20, 2))
        for eta in (0.1, 0.2)
        for method in ("gpm", "irls", "spectral")
    }
    del recovered["η = 0.2", "irls"]
    figure = map_grid(truth, recovered)
    assert len(figure.axes) == 6
    assert [axes.get_title() for axes in figure.axes[:3]] == ["gpm", "irls", "spectral"]
    assert [axes.get_ylabel() for axes in figure.axes[::3]] == ["η = 0.1", "η = 0.2"]
    assert [axes.get_visible() for axes in figure.axes] == [True] * 4 + [False, True]
    shown = figure.axes[5].collections[1].get_offsets()
    assert np.array_equal(shown, recovered["η = 0.2", "spectral"])
    assert image(figure).std() > 0


def test_error_is_the_colour(rng):
    truth = rng.normal(size=(20, 2))
    recovered = truth.copy()
    recovered[3] += 2.0
    figure = error_figure(truth, recovered)
    colour = figure.axes[0].collections[0].get_array()
    assert np.argmax(colour) == 3
    assert np.count_nonzero(colour) == 1
    assert image(figure).std() > 0


def test_pipeline_has_six_stages(rng):
    points = rng.normal(size=(30, 2))
    member = np.array([np.arange(10), np.arange(5, 15)])
    stages = [points[member] @ [1, 1j]] * 3
    figure = pipeline_figure(points, member, *stages, points)
    assert len(figure.axes) == 6
    assert image(figure).std() > 0


@pytest.mark.parametrize("k", [1, 2])
def test_solution_plot_with_and_without_the_graph(make_multigraph, k):
    graph = make_multigraph(0, connected=True)
    solution = gnnsync.solve(graph, "spectral", k)
    assert len(solution.plot().axes) == 2
    figure = solution.plot(graph)
    assert len(figure.axes) == 3
    assert "residuals of 51 edges" in figure.axes[0].get_title()
    assert image(figure).std() > 0


def test_plot_of_a_graph_without_edges():
    graph = gnnsync.MeasurementGraph(np.empty((2, 0), dtype=int), np.empty(0), 3)
    with pytest.warns(UserWarning, match="components"):
        solution = gnnsync.solve(graph, "spectral")
    assert image(solution.plot(graph)).std() > 0


def test_drawing_leaves_pyplot_alone():
    """Figures of pyplot would pile up in long runs, and may look for a display."""
    code = (
        "import sys, numpy as np, gnnsync;"
        "g = gnnsync.MeasurementGraph(np.array([[0], [1]]), np.ones(1), 2);"
        "gnnsync.solve(g, 'spectral').plot(g).savefig(sys.argv[1], format='png');"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    command = [sys.executable, "-c", code, os.devnull]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
