from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from gnnsync.report.figures import drawings, save
from gnnsync.report.styles import styles
from gnnsync.results.collect import collect

LEARNED = {
    "method": "gnnsync",
    "model.steps": "projected_gradient",
    "model.features": "spectral_rn",
    "model.encoder": "dimpa",
    "loss": "upset",
}


def named(folder) -> dict:
    found = collect([folder])
    return {drawing.name: drawing for drawing in drawings(found.rows, found.folders)}


def lines(axes) -> dict[str, tuple]:
    """Curves of a panel by colour."""
    return {line.get_color(): line for line in axes.lines}


def test_mse_against_noise_with_bars_band_and_a_dashed_network(results, tmp_path):
    for eta in (0.1, 0.5):
        results(**LEARNED, **{"data.eta": eta}, mse=[eta, eta + 0.2])
        results(method="spectral", **{"data.eta": eta}, mse=[2 * eta])
    (drawing,) = named(tmp_path).values()
    assert drawing.name == "mse_k1"
    figure = drawing.figure()
    (axes,) = figure.axes
    curves = lines(axes).values()
    assert [c.get_linestyle() for c in sorted(curves, key=lambda c: c.get_linestyle())] == [
        "-",
        "--",
    ]
    dashed = next(c for c in lines(axes).values() if c.get_linestyle() == "--")
    assert np.allclose(dashed.get_xdata(), [0.1, 0.5])
    assert np.allclose(dashed.get_ydata(), [0.2, 0.6])
    bars = [segment[:, 1] for segment in axes.collections[-1].get_segments()]
    assert any(np.allclose(bar, [0.1, 0.3]) for bar in bars)
    assert sum(isinstance(c, PolyCollection) for c in axes.collections) == 1  # the band
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["GNNSync", "Spectral", "limit: oracle to certifiable"]
    assert "ERO" in figure.get_suptitle()


@pytest.mark.parametrize(
    ("graphs", "densities", "priors", "names", "titles"),
    [
        (["erdos_renyi"], [0.1, 0.2], ["G", "H"], ["mse_k1"], "p = 0.1, prior G"),
        (["erdos_renyi", "x"], [0.1, 0.2], ["G"], ["mse_k1"], "p = 0.1, ERO"),
        (["erdos_renyi", "x"], [0.1], ["G", "H"], ["mse_k1"], "ERO, prior G"),
        (
            ["erdos_renyi", "x"],
            [0.1, 0.2],
            ["G", "H"],
            ["mse_k1_ERO", "mse_k1_x"],
            "p = 0.1, prior G",
        ),
    ],
)
def test_panels_by_graph_density_and_prior(
    results, tmp_path, graphs, densities, priors, names, titles
):
    for graph in graphs:
        for p in densities:
            for prior in priors:
                for eta in (0.1, 0.2):
                    cell = {"data.graph": graph, "data.p": p, "data.angles": prior}
                    results(**cell, **{"data.eta": eta}, seeds=1)
    found = named(tmp_path)
    assert sorted(found) == names
    figure = found[names[0]].figure()
    assert len(figure.axes) == len(graphs) * len(densities) * len(priors) / len(names)
    assert figure.axes[0].get_title() == titles


def test_different_k_are_different_figures(results, tmp_path):
    for k in (1, 2):
        for eta in (0.1, 0.2):
            results(**{"data.k": k, "data.eta": eta})
    assert set(named(tmp_path)) == {"mse_k1", "mse_k2"}


def test_random_graphs_and_clouds_have_figures_of_their_own(results, tmp_path):
    for eta in (0.1, 0.2):
        results(**{"data.eta": eta})
        results(**{"data.graph": "PACM", "data.p": None, "data.n": 426, "data.eta": eta})
    found = named(tmp_path)
    assert set(found) == {"mse_k1", "mse_k1_PACM"}
    labels = {name: d.figure().axes[0].get_xlabel() for name, d in found.items()}
    assert labels == {"mse_k1": "outlier fraction η", "mse_k1_PACM": "noise level η"}


def test_names_of_files_are_distinct_and_stay_in_their_folder(results, tmp_path):
    for graph in ("../a", "..>a", "a" * 300):
        for eta in (0.1, 0.2):
            results(**{"data.graph": graph, "data.p": None, "data.eta": eta})
    names = [d.name for d in drawings(collect([tmp_path]).rows)]
    assert len(set(names)) == 3
    assert all("/" not in name and len(name) < 100 for name in names)


def test_one_noise_level_makes_no_curve(results, tmp_path):
    results()
    assert not named(tmp_path)


def test_ablation_of_the_steps_replaces_the_plain_figure(results, tmp_path):
    for steps in ("projected_gradient", "none", "trainable"):
        for eta in (0.1, 0.2):
            own = {**LEARNED, "model.steps": steps, "data.eta": eta}
            results(**own, variant=f"gnnsync steps={steps}")
    found = named(tmp_path)
    assert set(found) == {"ablation_k1"}
    assert len(lines(found["ablation_k1"].figure().axes[0])) == 3


def test_improvement_over_features(results, tmp_path):
    for features, base in [("gpm", 0.5), ("tas", 0.1)]:
        for eta in (0.1, 0.2):
            own = {**LEARNED, "model.features": features, "data.eta": eta, "mse_features": base}
            results(**own, mse=[0.2, 0.2], variant=f"gnnsync features={features}")
    found = named(tmp_path)
    assert set(found) == {"mse_k1", "features_k1"}
    gains = [c.get_ydata() for c in lines(found["features_k1"].figure().axes[0]).values()]
    levels = sorted(float(np.mean(gain)) for gain in gains)
    assert levels == pytest.approx([-0.1, 0.0, 0.3])  # the line at zero between


def test_tau_curves_have_a_line_per_noise_level(results, tmp_path):
    for tau in (0.0, 0.5, 0.9):
        for eta in (0.1, 0.2):
            own = {**LEARNED, "loss": "linear", "loss.tau": tau, "data.eta": eta}
            results(**own, mse=[tau + eta], variant=f"gnnsync loss=linear tau={tau}")
    found = named(tmp_path)
    assert set(found) == {"mse_k1", "tau_k1"}
    curves = list(lines(found["tau_k1"].figure().axes[0]).values())
    assert len(curves) == 2
    assert np.allclose(curves[0].get_xdata(), [0, 0.5, 0.9])
    assert np.allclose(curves[0].get_ydata(), [0.1, 0.6, 1.0])


def test_maps_in_a_grid(results, tmp_path):
    cloud = {"data.graph": "PACM", "data.p": None, "ane": 0.1}
    points = np.random.default_rng(0).normal(size=(20, 2))
    for method in ("spectral", "trivial"):
        for eta in (0.1, 0.2):
            job = results(**cloud, method=method, **{"data.eta": eta})
            if (method, eta) != ("trivial", 0.2):
                np.savez(job / "solutions.npz", points=points, recovered=points + eta)
    found = named(tmp_path)
    assert set(found) == {"mse_k1_PACM", "ane_k1_PACM", "maps_k1_PACM_Gamma"}
    axes = found["maps_k1_PACM_Gamma"].figure().axes
    assert [a.get_visible() for a in axes] == [True, True, True, False]


def test_saved_as_picture_and_document_and_the_same_each_time(results, tmp_path):
    for eta in (0.1, 0.2):
        # Names that are no mathematics.
        results(variant=r"$x_$ \frac", **{"data.eta": eta, "data.graph": "$_$"})
    (drawing,) = named(tmp_path).values()
    first = [path.read_bytes() for path in save(drawing, tmp_path).files]
    assert first[0].startswith(b"\x89PNG")
    assert first[1].startswith(b"%PDF")
    assert first == [path.read_bytes() for path in save(drawing, tmp_path).files]


def test_every_panel_and_the_legend_are_files_of_their_own(results, tmp_path):
    for p in (0.05, 0.15):
        for eta in (0.1, 0.5):
            results(**LEARNED, **{"data.eta": eta, "data.p": p}, mse=[eta])
    (drawing,) = named(tmp_path).values()
    panels = dict(drawing.panels())
    assert list(panels) == ["p = 0.05", "p = 0.15", "legend"]
    whole = drawing.figure().axes[0]
    (axes,) = panels["p = 0.15"].axes
    assert (axes.get_xlim(), axes.get_ylim()) == (whole.get_xlim(), whole.get_ylim())
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == (
        "outlier fraction η",
        "MSE",
        "",
    )
    texts = [text.get_text() for text in panels["legend"].legends[0].get_texts()]
    assert texts == ["GNNSync", "limit: oracle to certifiable"]
    saved = save(drawing, tmp_path, panels=True)
    assert sorted(path.name for path in saved.panels) == [
        f"{name}.{ending}" for name in ("legend", "p0.05", "p0.15") for ending in ("pdf", "png")
    ]
    assert saved.preview.startswith(b"\x89PNG")
    assert saved.heading == "MSE against outlier fraction η: k = 1, ERO, prior 1: gamma, n = 360"


def test_the_legend_holds_all_of_its_entries(results, tmp_path):
    for i in range(9):
        for eta in (0.1, 0.5):
            results(method=f"a method with a long name {i}", **{"data.eta": eta}, seeds=1)
    (drawing,) = named(tmp_path).values()
    legend = dict(drawing.panels())["legend"]
    legend.draw_without_rendering()
    box = legend.legends[0].get_window_extent()
    assert box.x0 >= -1
    assert box.y0 >= -1
    assert box.x1 <= legend.bbox.x1 + 1
    assert box.y1 <= legend.bbox.y1 + 1
    assert legend.bbox.width < 1.2 * box.width, "and little else"


def test_maps_alone(results, tmp_path):
    points = np.random.default_rng(0).normal(size=(20, 2))
    cloud = {"data.graph": "PACM", "data.p": None, "ane": 0.1}
    job = results(**cloud, **{"data.eta": 0.1})
    np.savez(job / "solutions.npz", points=points, recovered=points)
    saved = save(named(tmp_path)["maps_k1_PACM_Gamma"], tmp_path, ["png"], panels=True)
    assert [path.name for path in saved.panels] == ["Spectral_eta0.1.png"]


def test_a_variant_looks_as_it_is_told_to(results, tmp_path):
    for eta in (0.1, 0.5):
        results(method="spectral", **{"data.eta": eta})
    rows = collect([tmp_path]).rows
    looks = styles(["gnnsync", "spectral"])
    (drawing,) = drawings(rows, looks=looks)
    (line,) = drawing.figure().axes[0].lines
    assert line.get_color() == looks["spectral"].colour


def test_steps_that_vary_are_an_ablation_where_rows_state_nothing_else_of_the_network(
    results, tmp_path
):
    for steps in ("projected_gradient", "none"):
        for eta in (0.1, 0.5):
            stated = {"variant": f"gnnsync steps={steps}", "model.steps": steps, "data.eta": eta}
            results(method="gnnsync", **stated, mse=[eta])
    assert list(named(tmp_path)) == ["ablation_k1"]
