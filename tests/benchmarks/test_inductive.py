"""The checks of the inductive network, the preset of its comparison, the table and the picture."""

import json

import numpy as np
import pytest
from hydra import compose, initialize_config_dir

from benchmarks.inductive import cases, frontier
from benchmarks.inductive.cases import Case
from benchmarks.inductive.checks import Check, checks_section
from benchmarks.inductive.groups import agreement
from benchmarks.inductive.pages import inserted, renew
from gnnsync.experiments.config.building import build
from gnnsync.experiments.config.composing import hydra_configs
from gnnsync.experiments.paths import conf_dir
from gnnsync.experiments.sweep.command import Command

PRESETS = "experiment=inductive/frontier,inductive/unseen,inductive/irls"
FOLDER = conf_dir() / "cell"
CELLS = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.yaml"))


def choices(texts):
    return {text.partition("=")[2] for text in texts}


def test_the_presets_sweep_all_cells_and_methods(tmp_path):
    with hydra_configs():
        grids = Command.of([PRESETS, f"output_dir={tmp_path}"]).grids
    swept = [{axis.place: choices(axis.texts) for axis in grid.axes} for grid in grids]
    frontier, unseen, irls = (grid["cell"] for grid in swept)
    assert frontier | unseen == set(CELLS)
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        single = {c for c in CELLS if compose("config", overrides=[f"+cell={c}"]).data.k == 1}
    assert (irls, unseen - single) == (frontier & single, set())
    known = {path.stem for path in (conf_dir() / "compared").glob("*.yaml")}
    assert swept[0]["compared"] | swept[2]["compared"] == swept[1]["compared"] == known


@pytest.mark.parametrize("cell", [cell for cell in CELLS if "/" in cell])
def test_a_cell_builds(cell):
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        cfg = compose("config", overrides=[f"+cell={cell}"])
    data = build(cfg)[1]
    assert data.make_graph(data.seeds[0]).angles.shape[1] == data.k


def test_a_nearby_case_has_other_parameters_and_about_the_same_density():
    for case in (*cases.NOISY, *cases.GEOMETRIC):
        other = case.nearby()
        assert other.n != case.n
        assert other.p != case.p
        assert other.eta != case.eta
        assert other.n * other.p == pytest.approx(case.n * case.p, rel=0.05)


def test_case_draws_what_its_name_says():
    (graph,) = Case("bao", 50, 0.2, 0.3, 0.1, k=2, prior="uniform").draw([3])
    assert (graph.num_nodes, graph.angles.shape) == (50, (50, 2))


def test_agreement_is_one_for_equal_groups_and_small_for_independent_ones():
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, (2000, 2))
    assert agreement(angles) < 0.1
    assert agreement(np.column_stack([angles, angles[:, 0] + 1.0])) == pytest.approx(1.0)


def test_checks_say_whether_they_hold():
    section = checks_section("Checks", [Check("a / b", 0.5, 1.0), Check("c / d", 2.0, 1.5)])
    assert [row[-1] for row in section.rows] == ["PASS", "FAIL"]
    assert "| a / b | 0.5 | ≤ 1 | PASS |" in section.markdown()


ROW = {
    "method": "auto",
    "variant": "auto",
    "network_seed": 10,
    "seconds_setup": 0.5,
    "seconds_train": 0.2,
    "mse": 0.01,
    "limit_oracle": 0.002,
    "data.graph": "erdos_renyi",
    "data.angles": "GammaAngles",
    "data.n": 360,
    "data.p": 0.15,
    "data.eta": 0.8,
    "data.inlier_noise": 0.1,
    "data.k": 1,
}


SCALED = next(label for label, title in frontier.TITLES.items() if title == "GNNSync, scaled")


@pytest.fixture
def sweep(tmp_path):
    rows = [
        ROW,
        {**ROW, "method": "gnnsync_inductive", "variant": "gnnsync_inductive", "mse": 0.0},
        {**ROW, "method": "gnnsync", "variant": SCALED, "mse": 0.5},
        {**ROW, "data.k": 2, "data.inlier_noise": 0.0},
    ]
    for number, row in enumerate(rows):
        folder = tmp_path / str(number)
        folder.mkdir()
        content = {"job_hash": str(number), "status": "success", "rows": [row]}
        (folder / "result.json").write_text(json.dumps(content))
    return frontier.read_rows(tmp_path)


def test_the_table_counts_the_set_up_of_methods_that_train(sweep):
    lines = frontier.table(sweep).splitlines()
    assert lines[0] == "| cell | inductive | auto | GNNSync, scaled | limit: oracle |"
    cell = "| ERO p=0.15 η=0.8 σ=0.1 | 0.0000, 200 ms | 0.0100, 200 ms | 0.5000, 700 ms | 0.0020 |"
    assert lines[2] == cell
    assert lines[4] == "| ERO p=0.15 η=0.8 k=2 | – | 0.0100, 200 ms | – | 0.0020 |"
    means = frontier.table(sweep, cells=False).splitlines()
    assert [line.split(" | ")[0] for line in means[2:]] == ["| noisy inliers", "| k > 1"]


def test_the_picture_has_a_panel_per_kind(sweep):
    figure = frontier.picture(sweep)
    assert [axes.get_title() for axes in figure.axes] == [
        "noisy inliers (1 cells)",
        "k > 1 (1 cells)",
    ]


def test_a_table_is_put_between_its_marks():
    page = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n"
    assert inserted(page, "x", "new") == "a\n<!-- x -->\n\nnew\n\n<!-- end of x -->\nb\n"
    with pytest.raises(SystemExit, match="end of y"):
        inserted(page, "y", "new")


def test_only_the_marks_of_a_page_are_renewed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- x -->\n<!-- end of x -->\n")
    renew(page, {"x": "one", "y": "two"})
    assert page.read_text() == "<!-- x -->\n\none\n\n<!-- end of x -->\n"
