"""The checks of the inductive network, the preset of its comparison, the table and the picture."""

import numpy as np
import pytest
from hydra import compose, initialize_config_dir

from benchmarks.inductive import cases
from benchmarks.inductive.cases import Case
from benchmarks.inductive.checks import Check, checks_section
from benchmarks.inductive.groups import agreement
from gnnsync.experiments.composing import hydra_configs
from gnnsync.experiments.config import build
from gnnsync.experiments.paths import conf_dir
from gnnsync.experiments.sweep.command import Command

PRESETS = "experiment=inductive/frontier,inductive/frontier_irls"
FOLDER = conf_dir() / "cell"
CELLS = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.glob("*/*.yaml"))


def test_the_preset_sweeps_all_cells_and_methods(tmp_path):
    with hydra_configs():
        grids = Command.of([PRESETS, f"output_dir={tmp_path}"]).grids
    swept = [{axis.place: axis.texts for axis in grid.axes} for grid in grids]
    listed = {text.partition("=")[2] for text in swept[0]["cell"]}
    assert listed == {*CELLS, *(path.stem for path in FOLDER.glob("*.yaml"))}
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        groups = {
            cell: compose("config", overrides=[f"+cell={cell}"]).data.k for cell in sorted(listed)
        }
    single = {text.partition("=")[2] for text in swept[1]["cell"]}
    assert single == {cell for cell, k in groups.items() if k == 1}
    methods = {text.partition("=")[2] for grid in swept for text in grid["compared"]}
    assert methods == {path.stem for path in (conf_dir() / "compared").glob("*.yaml")}


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_builds(cell):
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        cfg = compose("config", overrides=["experiment=inductive/frontier", f"+cell={cell}"])
    assert len(build(cfg)[1].graphs) in (2, 4)


def test_a_nearby_case_has_other_parameters_and_the_same_degree():
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
