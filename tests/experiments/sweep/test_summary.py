from __future__ import annotations

import logging

import pandas as pd
import pytest
from hydra import compose, initialize_config_dir

from gnnsync.experiments.job.run import run_job
from gnnsync.experiments.paths import conf_dir
from gnnsync.experiments.sweep.summary import summarise
from gnnsync.results.collect import collect


@pytest.fixture
def sweep(composed, tmp_path):
    for eta in (0.0, 0.4):
        run_job(
            composed(
                f"output_dir={tmp_path}", "method=spectral_rn", "figures=false", f"data.eta={eta}"
            )
        )
    return tmp_path / "debug"


def test_collects_every_row_once(sweep):
    rows = collect([sweep]).rows
    assert sorted(rows["data.eta"]) == [0.0, 0.4]
    assert rows["limit_oracle"].notna().all()
    exact = rows[rows["data.eta"] == 0.0]
    assert exact["mse"].item() < 1e-8


def test_a_broken_result_is_passed_over(sweep):
    broken = sorted(sweep.rglob("result.json"))[0]
    broken.write_text("{")
    assert len(collect([sweep]).rows) == 1


def test_summarise_writes_table_and_figure(sweep):
    summarise(sweep)
    assert len(pd.read_csv(sweep / "rows.csv")) == 2
    assert (sweep / "mse.png").read_bytes().startswith(b"\x89PNG")


def test_an_empty_sweep_says_so(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        summarise(tmp_path)
    assert "no finished job" in caplog.text
    assert not list(tmp_path.iterdir())


def test_a_sweep_over_a_map_ends_in_a_grid_of_maps(tmp_path):
    points = tmp_path / "cloud.csv"
    points.write_text("\n".join(f"{i % 8},{i // 8}" for i in range(64)))
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        for method in ("spectral_rn", "trivial"):
            overrides = [
                "data=points",
                f"data.path={points}",
                "data.neighbours=12",
                "data.eta=0.02",
                "data.seeds=[1]",
                "trials=1",
                f"method={method}",
                f"output_dir={tmp_path}",
                "sweep=maps",
                "logger=none",
            ]
            rows = run_job(compose("config", overrides))
            assert rows[0]["ane"] >= 0
    summarise(tmp_path / "maps")
    assert len(list((tmp_path / "maps").glob("map_*.png"))) == 1
    assert len(list((tmp_path / "maps").glob("*-*/pipeline.png"))) == 2
