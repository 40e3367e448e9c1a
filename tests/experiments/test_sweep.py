from __future__ import annotations

import logging

import pandas as pd
import pytest

from gnnsync.experiments.job import run_job
from gnnsync.experiments.sweep import collect, summarise


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
    rows = collect(sweep)
    assert sorted(rows["data.eta"]) == [0.0, 0.4]
    assert rows["limit_oracle"].notna().all()
    exact = rows[rows["data.eta"] == 0.0]
    assert exact["mse"].item() < 1e-8


def test_a_broken_result_is_passed_over(sweep):
    broken = sorted(sweep.glob("*/result.json"))[0]
    broken.write_text("{")
    assert len(collect(sweep)) == 1


def test_summarise_writes_table_and_figure(sweep):
    summarise(sweep)
    assert len(pd.read_csv(sweep / "rows.csv")) == 2
    assert (sweep / "mse.png").read_bytes().startswith(b"\x89PNG")


def test_an_empty_sweep_says_so(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        summarise(tmp_path)
    assert "no finished job" in caplog.text
    assert not list(tmp_path.iterdir())
