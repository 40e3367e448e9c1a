"""The study of the paper: kept rows, claims, and the page made from them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import psutil
import pytest

from benchmarks.reproduction import __main__ as command
from benchmarks.reproduction.checking import difference, rerun
from benchmarks.reproduction.claims import CLAIMS
from benchmarks.reproduction.claims.finding import FAILS, HOLDS, NOT_RUN
from benchmarks.reproduction.claims.groups import sum_between
from benchmarks.reproduction.claims.one_group import best_of_all
from benchmarks.reproduction.evidence import Evidence
from benchmarks.reproduction.page import page_text
from benchmarks.reproduction.planning import PlannedPart, same_science, stated
from benchmarks.reproduction.running import Study
from benchmarks.reproduction.sections import SECTIONS
from benchmarks.reproduction.store import Store
from benchmarks.reproduction.study import BY_NAME, FOLDER, PAGE, ROOT, Part
from benchmarks.reproduction.tables import escaped
from benchmarks.reproduction.timing import in_words, seconds
from gnnsync.experiments.config.composing import hydra_configs

_MOST_BYTES = 5_000_000
SMALL = ("data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1", "trainer.max_steps=3")


@pytest.fixture(scope="module")
def kept():
    return Store.read(FOLDER)


def test_the_page_is_made_from_the_kept_rows(kept):
    """If this fails, run `scripts/reproduce --page`."""
    assert PAGE.read_text(encoding="utf-8") == page_text(kept)


def test_what_is_kept_is_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < _MOST_BYTES


def test_every_part_is_on_the_page():
    assert sorted(name for s in SECTIONS for name in s.parts) == sorted(BY_NAME)


def test_every_finished_job_has_its_replicas(kept):
    rows = kept.rows.groupby("job_hash").size()
    assert set(rows.index) == kept.finished
    assert kept.finished <= set(kept.jobs["job_hash"])
    assert (rows == 10).all()


def _some(kept, method, k):
    """A kept job of the paper's protocol with little noise, and its rows."""
    jobs = kept.jobs[(kept.jobs["protocol"] == "paper") & kept.jobs["job_hash"].isin(kept.finished)]
    jobs = jobs[(jobs["method"] == method) & (jobs["k"] == k) & (jobs["graph"] == "ero")]
    jobs = jobs[jobs["eta"] == 0.2]
    if jobs.empty:
        pytest.skip("not run yet")
    job = jobs.iloc[-1]
    return job, kept.rows[kept.rows["job_hash"] == job["job_hash"]]


@pytest.mark.parametrize(("method", "k"), [("gpm", 1), ("gnnsync", 1), ("gnnsync", 2)])
def test_a_row_of_the_page_is_reproduced_by_its_command(kept, method, k):
    """For k = 1 of one network and trial, since replicas do not depend on each other.

    Trainings for k = 2, or at high noise, amplify rounding, which depends on how many replicas are
    computed at once.
    """
    job, rows = _some(kept, method, k)
    again = rerun(job["line"], ["data.seeds=[10]", "trials=1"] if k == 1 else [])
    assert len(again) == (1 if k == 1 else 10)
    assert difference(rows, again) == ""


def test_a_row_that_differs_is_seen(kept):
    _, rows = _some(kept, "gpm", 1)
    other = rows.assign(mse=rows["mse"] + 0.5)[["network_seed", "trial", "mse"]]
    assert "mse" in difference(rows, other.to_dict("records"))


# --- small studies -------------------------------------------------------------------------------


@pytest.fixture
def small():
    """A part that runs in seconds."""
    words = (*SMALL, "data=ero", "data.eta=0.2", "method=gpm,trivial")
    return Part("main_k1", "main_k1", "small", words)


def test_a_study_is_resumed_in_a_fresh_clone(small, tmp_path, capfd):
    first, second = tmp_path / "first", tmp_path / "second"
    with hydra_configs():
        study = Study([small], ["paper"], Store(), first)
    assert len(study.left()) == 2
    assert study.run(study.planned[0], jobs=1) == 0
    assert study.collect(clock=1.0) == 2
    study.store.write(tmp_path / "kept")

    store = Store.read(tmp_path / "kept")
    with hydra_configs():
        again = Study([small], ["paper"], store, second)
    assert again.left().empty
    assert again.run(again.planned[0], jobs=1) == 0
    assert "2 jobs: 2 done" in capfd.readouterr().err
    assert again.collect(clock=1.0) == 0  # restored results are not new ones
    pd.testing.assert_frame_equal(store.rows, Store.read(tmp_path / "kept").rows)


def test_jobs_of_an_outdated_config_are_run_again(small, tmp_path):
    with hydra_configs():
        planned = PlannedPart(small, "paper", tmp_path)
        table = planned.table()
        current = planned.science(set(table["job_hash"]))
        store = Store()
        store.replan(table.assign(job_hash=["old-a", "old-b"]))
        changes = [{}, {"seed": 1}]  # the second was computed with another seed
        pairs = zip(["old-a", "old-b"], current.items(), changes, strict=True)
        for old, (digest, config), change in pairs:
            line = table.set_index("job_hash").loc[digest, "line"]
            store.jobs.loc[store.jobs["line"] == line, "job_hash"] = old
            row = {"network_seed": 10, "trial": 0, "mse": 0.5}
            result = {"job_hash": old, "seconds": 1, "rows": [row]}
            store.add([(result, config | change)], 1.0)
        study = Study([small], ["paper"], store, tmp_path)
    assert study.outdated == 1
    assert len(study.left()) == 1
    assert next(iter(current)) in store.finished  # under its present hash


def test_an_option_that_did_not_exist_counts_as_its_default():
    kept = {"_target_": "gnnsync.methods.gpm.GPM"}
    present = stated(kept)
    assert len(present) > 1
    name = next(key for key in present if key != "_target_")
    older = {key: value for key, value in present.items() if key != name}
    assert same_science(older, present)
    assert not same_science(older, present | {name: "another"})


# --- claims --------------------------------------------------------------------------------------


def evidence(errors: dict[str, float], groups: Sequence[int] = (1,)) -> Evidence:
    """A cell per k and η with the same errors; names of losses are networks of that loss."""
    lines = []
    for k, eta in product(groups, (0.2, 0.4, 0.6, 0.8)):
        for name, error in errors.items():
            loss = name if name in ("cycle", "upset", "sum") else None
            method = "gnnsync" if loss else name
            lines.append(
                {
                    "part": f"main_k{k}",
                    "protocol": "paper",
                    "job_hash": f"{name}{k}{eta}",
                    "network_seed": 10,
                    "trial": 0,
                    "graph": "ero",
                    "angles": "gamma",
                    "p": 0.15,
                    "eta": eta,
                    "k": k,
                    "n": 360,
                    "method": method,
                    "loss": loss,
                    "mse": error,
                }
            )
    rows = pd.DataFrame(lines)
    return Evidence(rows, rows, "paper")


_BASELINES = dict.fromkeys(
    ("spectral", "spectral_rn", "gpm", "transync", "cemp_gcw", "cemp_mst", "tas", "trivial"), 0.5
)


def test_the_claim_of_the_best_method_depends_on_the_rows():
    assert best_of_all(evidence({"gnnsync": 0.4, **_BASELINES})).verdict == HOLDS
    assert best_of_all(evidence({"gnnsync": 0.501, **_BASELINES})).verdict == HOLDS  # equal
    lost = best_of_all(evidence({"gnnsync": 0.4, **_BASELINES, "transync": 0.1}))
    assert lost.verdict == FAILS
    assert "in 0 of 4 cells" in lost.figures
    assert "transync 4" in lost.figures


@pytest.mark.parametrize(("error", "verdict"), [(0.35, HOLDS), (0.22, FAILS), (0.7, FAILS)])
def test_the_sum_of_losses_lies_between_them(error, verdict):
    errors = {"cycle": 0.2, "upset": 0.4, "sum": error, **_BASELINES}
    assert sum_between(evidence(errors, (2, 3, 4))).verdict == verdict


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_claims_without_rows_are_not_run_yet(claim):
    assert claim.finding(Evidence.of(Store(), "repaired")).verdict == NOT_RUN


def test_an_unfinished_part_has_no_verdict(kept):
    """A verdict on the first cells of a part would be by chance."""
    if not kept.finished:
        pytest.skip("not run yet")
    some = kept.jobs[kept.jobs["job_hash"].isin(kept.finished)].iloc[0]
    part, protocol = some["part"], some["protocol"]
    unfinished = pd.DataFrame([{**some, "job_hash": "not run"}])
    store = Store(pd.concat([kept.jobs, unfinished]), kept.runs, kept.rows)
    assert (Evidence.of(store, protocol).replicas["part"] != part).all()


# --- words ---------------------------------------------------------------------------------------


def test_times_in_words():
    assert [in_words(s) for s in (40, 720, 12000)] == ["40 s", "12 min", "3 h 20 min"]


def test_the_time_of_a_job_is_that_of_kept_ones_like_it(kept):
    jobs = kept.jobs.drop_duplicates("job_hash").head(5)
    if jobs.empty or not kept.finished:
        pytest.skip("not run yet")
    clock = float(kept.runs["clock"].iloc[0])
    expected = seconds(kept, jobs, clock)
    assert (expected > 0).all()
    np.testing.assert_allclose(seconds(kept, jobs, 2 * clock), 2 * expected)


def test_names_are_escaped_outside_code():
    assert escaped("Spectral_RN `main_k1` |a|") == r"Spectral\_RN `main_k1` \|a\|"


def test_the_command_refuses_an_unknown_part(capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(["--only", "nothing"])
    assert stopped.value.code == 2
    assert "invalid choice: 'nothing'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_signal_ends_the_study_and_its_sweep(tmp_path):
    words = ["--only", "sdp", "--protocol", "paper", "--jobs", "1"]
    folders = [f"--{name}={tmp_path / name}" for name in ("output", "rows", "write-page")]
    command_line = [sys.executable, "-m", "benchmarks.reproduction", *words, *folders]
    with subprocess.Popen(command_line, cwd=ROOT, stderr=subprocess.PIPE, text=True) as study:
        for line in study.stderr:
            if line.startswith("gnnsync: 16 jobs"):
                break
        (sweep,) = psutil.Process(study.pid).children()
        study.send_signal(signal.SIGTERM)
        said = study.stderr.read()
    assert study.returncode == 128 + signal.SIGTERM
    assert said.endswith("reproduce: interrupted; the same command goes on\n")
    assert "Traceback" not in said
    assert not sweep.is_running()
