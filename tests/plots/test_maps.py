import numpy as np

from gnnsync.plots.maps import error_figure, map_grid, pipeline_figure
from tests.plots.images import image


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
