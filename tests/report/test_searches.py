from __future__ import annotations

import json
import os

import numpy as np
import pytest

from gnnsync.report.searches import save_search, searches, studied
from gnnsync.results.collect import collect


@pytest.fixture
def tuned(results, tmp_path):
    """A search of three jobs, finished in the order 0.3, 0.1, 0.2, beside a study."""
    for number, (lr, mse) in enumerate([("0.01", 0.3), ("0.02", 0.1), ("0.03", 0.2)]):
        variant = f"gnnsync optimizer.lr={lr}"
        job = results("tune", method="gnnsync", variant=variant, mse=[mse, mse + 0.2])
        path = job / "result.json"
        content = json.loads(path.read_text())
        content["overrides"] = ["experiment=tune", f"optimizer.lr={lr}"]
        path.write_text(json.dumps(content))
        os.utime(path, (number, number))
    (tmp_path / "outputs" / "tune" / "optimization_results.yaml").write_text("name: optuna\n")
    results("study", method="spectral")
    return collect([tmp_path / "outputs"])


def test_jobs_in_the_order_of_finishing_with_what_was_varied(tuned):
    (search,) = searches(tuned)
    assert (search.sweep, search.parameters) == ("tune", ["optimizer.lr"])
    assert [trial.values for trial in search.trials] == [["0.01"], ["0.02"], ["0.03"]]
    assert [trial.mse for trial in search.trials] == pytest.approx([0.4, 0.2, 0.3])
    assert [trial.std for trial in search.trials] == pytest.approx([0.1] * 3)
    assert search.trials[1].line == "experiment=tune optimizer.lr=0.02"


def test_the_figure_has_the_lowest_so_far(tuned):
    (search,) = searches(tuned)
    (axes,) = search.figure().axes
    jobs, lowest = axes.lines
    assert np.allclose(jobs.get_ydata(), [0.4, 0.2, 0.3])
    assert np.allclose(lowest.get_ydata(), [0.4, 0.2, 0.2])
    assert list(search.panels()) == []


def test_curves_and_tables_leave_searches_out_unless_there_is_nothing_else(tuned, tmp_path):
    rows, looks = studied(tuned)
    assert list(looks) == ["spectral"]
    assert set(rows["sweep"]) == {"study"}
    rows, looks = studied(collect([tmp_path / "outputs" / "tune"]))
    assert len(looks) == 3


def test_saved_as_csv(tuned, tmp_path):
    (search,) = searches(tuned)
    lines = save_search(search, tmp_path).read_text().splitlines()
    assert lines[0] == "job,mse,std,optimizer.lr"
    assert len(lines) == 4
    assert lines[2].endswith(",0.02")


def test_a_search_without_an_mse_is_left_out(results, tmp_path):
    results("tune", mse=[None])
    (tmp_path / "outputs" / "tune" / "optimization_results.yaml").write_text("")
    found = collect([tmp_path])
    assert len(found.searches) == 1
    assert searches(found) == []
