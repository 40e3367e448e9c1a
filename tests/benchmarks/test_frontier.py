"""The presets behind the table and the picture of the robust methods."""

import pytest
from hydra import compose, initialize_config_dir

from benchmarks.frontier import CELLS
from gnnsync.experiments.config.building import build
from gnnsync.experiments.config.composing import hydra_configs
from gnnsync.experiments.paths import conf_dir
from gnnsync.experiments.sweep.command import Command
from tests.command import main

NAMES = sorted(path.stem for path in (conf_dir() / "cell").glob("*.yaml"))


def test_the_cells_are_those_of_the_benchmark():
    found = set()
    for name in NAMES:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            cfg = compose("config", overrides=["experiment=frontier", f"+cell={name}"])
        data = build(cfg)[1]
        graph = cfg.data.measurement.path.rpartition(".")[2]
        short = {"erdos_renyi": "ero", "barabasi_albert": "bao", "random_geometric": "rggo"}[graph]
        found.add((short, data.k, data.p, data.eta, data.inlier_noise))
        assert (data.n, len(data.seeds)) == (360, 5)
    assert found == {cell[:5] for cell in CELLS}


@pytest.mark.parametrize(
    ("preset", "jobs"),
    [
        ("frontier", 11 * 6),
        ("frontier_groups", 5 * 6),
        ("frontier_maps", 3 * 5 * 3),
        ("frontier_curve", 2 * 11 * 5),
    ],
)
def test_presets_sweep_all_they_promise(preset, jobs, tmp_path):
    with hydra_configs():
        command = Command.of([f"experiment={preset}", f"output_dir={tmp_path}"])
    assert len(list(command.grids[0].points())) == jobs


def test_a_small_frontier_runs(tmp_path, capsys):
    code = main(
        [
            "run",
            "-m",
            "experiment=frontier",
            "+cell=ero_k1_p15_eta80,ero_k2_p15_eta30",
            "method=gnnsync_plus,gnc",
            "model/features=spectral_rn",
            "trainer.max_steps=2",
            "data.n=40",
            "data.p=0.4",
            "data.seeds=[1]",
            f"output_dir={tmp_path}",
        ]
    )
    assert code == 0
    assert len(list((tmp_path / "frontier").rglob("result.json"))) == 4
    assert "4 rows of 4 jobs" in capsys.readouterr().err
