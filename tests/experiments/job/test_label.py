"""What rows say about a method, and the line that runs a job again."""

from __future__ import annotations

import json
import shlex

import pytest
from hydra import compose, initialize_config_dir

from gnnsync.experiments.job.hashing import job_hash
from gnnsync.experiments.job.label import label_of
from gnnsync.experiments.paths import conf_dir
from gnnsync.results.files import reproducing
from tests.command import main

TINY = ["data.n=20", "data.p=0.5", "data.seeds=[1]", "trials=1", "figures=false"]


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Run a command in this process; the results it leaves, by variant."""
    monkeypatch.setattr("sys.argv", ["gnnsync"])
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> dict[str, dict]:
        assert main(["run", *arguments]) == 0
        found = [json.loads(path.read_text()) for path in tmp_path.rglob("result.json")]
        return {result["rows"][0]["variant"]: result for result in found}

    return run


def test_the_line_of_a_preset_sweep_gives_the_same_job(results, tmp_path):
    found = results(
        "-m",
        *TINY,
        "experiment=baselines",
        "method=gpm,spectral",
        "method.refine=0,5",
        "data.eta=0.25",
        "logger=csv",
        "logger.csv.name=private",
        "output_dir=out",
    )
    assert set(found) == {"gpm", "gpm refine=5", "spectral", "spectral refine=5"}
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if b"private" in path.read_bytes()]
    for result in found.values():
        assert "experiment=baselines" in result["overrides"]
        assert not any("private" in text or "out" in text for text in result["overrides"])
        # As it would arrive from a shell.
        line = shlex.split(shlex.join(result["overrides"]))
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            assert job_hash(compose("config", line)) == result["job_hash"]


def test_a_learned_method_names_its_parts_and_what_is_changed(results):
    found = results(
        *TINY, "debug=fast", "trainer.max_steps=2", "loss=linear", "loss.tau=0.3", "data.k=2"
    )
    ((variant, result),) = found.items()
    assert variant == "gnnsync loss=linear tau=0.3"
    row = result["rows"][0]
    assert row["method"] == "gnnsync"
    assert row["loss"] == "linear"
    assert row["loss.tau"] == 0.3
    assert row["model.encoder"] == "dimpa"
    assert row["model.features"] == "spectral_rn"
    assert row["model.steps"] == "reweighted_five"
    assert row["model.steps.alpha"] == 1.0
    assert row["trainer.max_steps"] == 2  # a column, not part of the label
    assert "optimizer.lr" not in row
    assert row["steps"] == 2


@pytest.mark.parametrize(
    ("overrides", "variant"),
    [
        (["method=tas", "protocol=paper"], "tas protocol=paper"),
        (["method=tas", "protocol=paper", "method.trim=0.1"], "tas protocol=paper trim=0.1"),
        (["method=gpm", "protocol=paper"], "gpm"),  # the same in all of them
        (["method=spectral_rn"], "spectral_rn"),
        (["method=gpm", "method.refine=5"], "gpm refine=5"),
        ([], "gnnsync"),
        (["data.k=2", "seed=3", "trials=4"], "gnnsync"),
        (["loss=cycle"], "gnnsync loss=CycleLoss"),
        (["model.steps.trainable=false"], "gnnsync trainable=false"),
        (["model.encoder.tau=0.1"], "gnnsync encoder.tau=0.1"),
        (["model.features.method.refine=2"], "gnnsync features.method.refine=2"),
        (["fit=false", "ckpt=a.ckpt"], "gnnsync fit=false"),
    ],
)
def test_variant_without_a_hydra_run(composed, overrides, variant):
    identity = label_of(composed(*overrides))
    assert identity.variant == variant
    assert identity.overrides is None


def test_the_line_leaves_out_where_and_how_a_job_runs():
    aside = ["output_dir=x", "sweep=y", "logger=wandb", "+logger.api_key=k", "threads=2"]
    kept = ["experiment=demo", "data.eta=0.1", "+model.encoder.conv.aggr=max", "~data.p"]
    assert reproducing([*kept, *aside]) == kept
