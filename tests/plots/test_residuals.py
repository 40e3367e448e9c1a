import numpy as np
import pytest
from matplotlib.figure import Figure

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.metrics import estimate_outliers
from gnnsync.noise_law import LAPLACE
from gnnsync.plots.residuals import ResidualView, draw_peak, draw_residuals, fitted_law
from gnnsync.units import RADIANS
from tests.methods.networks import synthetic


def sample(dof, scale, outliers=0.3, size=20_000):
    rng = np.random.default_rng(0)
    noise = rng.laplace(size=size) if dof == LAPLACE else rng.standard_t(dof, size)
    uniform = rng.random(size) < outliers
    return np.where(uniform, rng.uniform(-np.pi, np.pi, size), np.clip(scale * noise, -3, 3))


@pytest.mark.parametrize("dof", [LAPLACE, 4.0])
def test_the_law_is_fitted(dof):
    outliers, scale = fitted_law(sample(dof, 0.1), dof)
    assert outliers == pytest.approx(0.3, abs=0.02)
    assert scale == pytest.approx(0.1, rel=0.06)


def test_normal_noise_is_that_of_the_summary():
    residual = np.random.default_rng(0).normal(0, 0.1, 500)
    assert fitted_law(residual, np.inf) == estimate_outliers(residual)


def view_of(graph, method="gpm"):
    return ResidualView.of(gnnsync.solve(graph, method), graph)


def test_expected_counts_add_up():
    view = view_of(synthetic(0.3, 0.1))
    at = np.linspace(-np.pi, np.pi, 20_001)[:-1]
    assert view.expected(at, 2 * np.pi / 20_000).sum() == pytest.approx(
        view.checked.sum(), rel=0.01
    )


def test_every_residual_is_in_a_bar():
    view, axes = view_of(synthetic(0.3, 0.1)), Figure().subplots()
    draw_residuals(axes, view, RADIANS)
    assert sum(bar.get_height() for bar in axes.patches) == len(view.residual)


def test_the_peak_is_close_up_and_names_the_law():
    view, axes = view_of(synthetic(0.3, 0.1)), Figure().subplots()
    draw_peak(axes, view, RADIANS)
    assert axes.get_xlim()[1] == pytest.approx(4.5 * view.scale)
    assert axes.get_legend().get_texts()[0].get_text().startswith("normal, 0.")


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (synthetic(0.0, 0.0), "measurements are met exactly"),
        (MeasurementGraph(np.array([[0], [1]]), np.ones(1), 2), "no measurement is checked"),
    ],
)
def test_without_a_peak_the_panel_says_why(graph, text):
    axes = Figure().subplots()
    draw_peak(axes, view_of(graph), RADIANS)
    assert text in axes.texts[0].get_text()


def test_edges_on_no_cycle_are_apart():
    graph = MeasurementGraph(np.array([[0, 1, 2, 2], [1, 2, 0, 3]]), np.zeros(4), 4)
    view, axes = view_of(graph), Figure().subplots()
    draw_residuals(axes, view, RADIANS)
    assert "1 on no cycle" in axes.get_legend().get_texts()[0].get_text()
