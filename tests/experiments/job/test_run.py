from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from contextlib import ExitStack
from functools import partial

import numpy as np
import pytest

from gnnsync.errors import GnnsyncError
from gnnsync.experiments.job.hashing import job_folder
from gnnsync.experiments.job.replicas import replica_seed
from gnnsync.experiments.job.run import run_job
from gnnsync.metrics import angular_mse
from gnnsync.results.files import read_result
from gnnsync.results.locks import claim, claimed


def only_folder(root):
    (folder,) = [p for p in root.rglob("*") if (p / "result.json").exists() and not p.is_symlink()]
    return folder


def test_a_learned_job_writes_rows_figures_and_checkpoint(composed, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    rows = run_job(composed(f"output_dir={tmp_path}", "data.seeds=[1,2]", "trials=2", "data.k=2"))
    folder = only_folder(tmp_path)
    stored = json.loads((folder / "result.json").read_text())
    assert stored["rows"] == rows
    assert stored["status"] == "success"
    assert [(r["network_seed"], r["trial"]) for r in rows] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    for row in rows:
        assert row["status"] == "finished"
        assert row["steps"] == 20
        assert row["data.k"] == 2
        assert 0 <= row["mse"] <= 4
        assert row["mse_trivial"] > 0.5
    for name in ("config.yaml", "job.log", "solutions.npz", "loss.png", "angles.png", "final.ckpt"):
        assert (folder / name).stat().st_size > 0, name
    with np.load(folder / "solutions.npz") as arrays:
        assert arrays["angles"].shape == (4, 30, 2)
        assert arrays["loss_train"].shape == (20, 4)
    assert (folder / "log" / "metrics.csv").exists()
    assert not list(tmp_path.rglob("*.partial"))


def test_a_classical_job_has_the_same_columns(composed, tmp_path):
    learned = run_job(composed(f"output_dir={tmp_path}/a"))[0]
    classical = run_job(composed(f"output_dir={tmp_path}/b", "method=spectral_rn"))[0]
    assert set(classical) <= set(learned)
    own = {"mse_features", "mse_untrained", "loss", "model.encoder"}
    assert own <= set(learned) - set(classical)
    assert learned["mse_features"] == pytest.approx(classical["mse"], abs=1e-5)


def test_rows_of_several_sets_have_their_agreement(composed, tmp_path):
    for method in ("gnnsync", "spectral_rn"):
        row = run_job(composed(f"output_dir={tmp_path}/{method}", f"method={method}", "data.k=2"))[
            0
        ]
        assert 0 < row["set_agreement"] <= 1
        assert 0 < row["set_agreement_true"] < 1
    row = run_job(composed(f"output_dir={tmp_path}/one", "method=spectral_rn", "data.k=1"))[0]
    assert not {"set_agreement", "set_agreement_true"} & set(row)


def test_the_untrained_network_is_the_one_that_is_trained(composed, tmp_path):
    still = ("optimizer.lr=0", "optimizer.weight_decay=0")
    for row in run_job(composed(f"output_dir={tmp_path}", *still)):
        assert row["mse_untrained"] == pytest.approx(row["mse"], abs=1e-5)


def test_a_classical_job_loads_neither_torch_nor_lightning(tmp_path):
    """With the default logger, in a process of its own."""
    code = """
import atexit, sys
from gnnsync.cli.run import main
heavy = {"torch", "pytorch_lightning", "lightning", "wandb"}
atexit.register(lambda: print("loaded:", heavy & set(sys.modules)))
sys.exit(main())
"""
    small = ["data.n=30", "data.p=0.4", "data.seeds=[1]", "method=gpm", f"output_dir={tmp_path}"]
    command = [sys.executable, "-c", code, *small]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded: set()"
    assert only_folder(tmp_path)


def test_same_config_and_seed_give_the_same_result(composed, tmp_path):
    first = run_job(composed(f"output_dir={tmp_path}/a"))
    second = run_job(composed(f"output_dir={tmp_path}/b"))
    assert first[0]["mse"] == second[0]["mse"]
    assert first[0]["job_hash"] == second[0]["job_hash"]
    other = run_job(composed(f"output_dir={tmp_path}/c", "seed=32"))
    assert other[0]["mse"] != first[0]["mse"]


def test_a_finished_job_is_run_again_but_not_resumed(composed, tmp_path, capsys):
    small = [f"output_dir={tmp_path}", "method=spectral_rn", "figures=false"]
    rows = run_job(composed(*small))
    result = only_folder(tmp_path) / "result.json"
    before = result.stat().st_mtime_ns
    assert run_job(composed(*small, "resume=true")) == rows
    assert "this job is finished, nothing to resume" in capsys.readouterr().out
    assert result.stat().st_mtime_ns == before
    run_job(composed(*small))
    assert result.stat().st_mtime_ns != before


def test_a_job_holds_its_folder_while_it_runs(composed, tmp_path):
    cfg = composed(f"output_dir={tmp_path}", "method=spectral_rn", "figures=false")
    run_job(cfg)
    folder = only_folder(tmp_path)
    assert not claimed(folder)
    before = (folder / "result.json").read_bytes()
    with claim(folder) as mine:
        assert mine
        with pytest.raises(GnnsyncError, match=f"process {os.getpid()} on .* is running this job"):
            run_job(cfg)
    assert (folder / "result.json").read_bytes() == before


def test_a_job_that_starts_while_another_makes_its_folder_leaves_it_there(
    composed, tmp_path, monkeypatch
):
    cfg = composed(f"output_dir={tmp_path}/outputs", "method=spectral_rn", "figures=false")
    with ExitStack() as other:

        def start_other(path):
            assert other.enter_context(claim(job_folder(cfg)))
            return path

        monkeypatch.setattr("gnnsync.experiments.job.run.writable_directory", start_other)
        with pytest.raises(GnnsyncError, match=f"process {os.getpid()} on .* is running this job"):
            run_job(cfg)
        assert job_folder(cfg).is_dir()


def test_a_job_refused_at_its_data_leaves_no_folder(composed, tmp_path):
    refused = ["data.p=0.001", "data.max_draws=1", "method=spectral_rn"]
    with pytest.raises(GnnsyncError, match="no connected measurement graph"):
        run_job(composed(f"output_dir={tmp_path}/outputs", *refused))
    assert not list(tmp_path.iterdir())


def test_a_crash_leaves_its_reason(composed, tmp_path, monkeypatch):
    def crash(*_, **__):
        raise RuntimeError("out of luck")

    monkeypatch.setattr("gnnsync.experiments.job.run.solve_replicas", crash)
    with pytest.raises(RuntimeError, match="out of luck"):
        run_job(composed(f"output_dir={tmp_path}", "method=spectral_rn"))
    (note,) = tmp_path.rglob("failure.json")
    assert json.loads(note.read_text())["error"] == "out of luck"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"status": "failed", "rows": []}'])
def test_a_broken_result_counts_as_missing(tmp_path, content):
    (tmp_path / "result.json").write_text(content)
    assert read_result(tmp_path) is None


def test_a_checkpoint_is_evaluated_on_new_data(composed, tmp_path):
    trained = run_job(composed(f"output_dir={tmp_path}/a", "data.seeds=[1]"))
    ckpt = only_folder(tmp_path / "a") / "final.ckpt"
    same = run_job(
        composed(f"output_dir={tmp_path}/b", "data.seeds=[1]", "fit=false", f"ckpt={ckpt}")
    )
    assert same[0]["mse"] == pytest.approx(trained[0]["mse"], abs=1e-6)
    new = run_job(
        composed(f"output_dir={tmp_path}/c", "data.seeds=[2]", "fit=false", f"ckpt={ckpt}")
    )
    assert new[0]["mse"] != trained[0]["mse"]
    assert new[0]["steps"] == 0


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("data.k=2", "of another model"),
        ("data.seeds=[1,2]", "of another model"),
        ("model.encoder.width=4", "of another model"),
        ("method=spectral_rn", "only method=gnnsync has checkpoints"),
    ],
)
def test_a_checkpoint_of_another_shape_is_refused(composed, tmp_path, override, message):
    run_job(composed(f"output_dir={tmp_path}/a", "data.seeds=[1]"))
    ckpt = only_folder(tmp_path / "a") / "final.ckpt"
    with pytest.raises(GnnsyncError, match=message):
        run_job(
            composed(
                f"output_dir={tmp_path}/b", "data.seeds=[1]", "fit=false", f"ckpt={ckpt}", override
            )
        )


def test_a_missing_or_foreign_checkpoint_is_refused(composed, tmp_path):
    with pytest.raises(GnnsyncError, match="no such file"):
        run_job(composed(f"output_dir={tmp_path}", "fit=false", f"ckpt={tmp_path}/no.ckpt"))
    (tmp_path / "text.ckpt").write_text("hello")
    with pytest.raises(GnnsyncError, match="not a gnnsync checkpoint"):
        run_job(composed(f"output_dir={tmp_path}", "fit=false", f"ckpt={tmp_path}/text.ckpt"))


def test_replica_seeds_are_distinct_and_fixed():
    seeds = {replica_seed(31, s, t) for s in (10, 20, 30, 40, 50) for t in range(2)}
    assert len(seeds) == 10
    assert replica_seed(31, 10, 0) == replica_seed(31, 10, 0)


def test_relabelled_nodes_give_the_permuted_solution(composed):
    # The classical features and the whole network commute with a permutation of the nodes.
    from gnnsync.data.outliers import observe
    from gnnsync.data.priors import UniformAngles
    from gnnsync.learn import GNNSync, Training
    from gnnsync.learn.encoders import DIMPA

    rng = np.random.default_rng(3)
    n = 25
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.5]).T
    graph = observe(pairs, UniformAngles()(n, 1, rng), 0.1, rng=rng)
    order = rng.permutation(n)
    shuffled = graph.replace(edge_index=order[graph.edge_index], angles=None)
    method = GNNSync(
        encoder=partial(DIMPA, dropout=0.0),
        training=Training(max_steps=30, accelerator="cpu", precision=64),
    )
    first, second = method(graph, seed=1), method(shuffled, seed=1)
    assert angular_mse(second.angles[order], first.angles) < 1e-6
