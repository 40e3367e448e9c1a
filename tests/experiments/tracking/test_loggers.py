from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import wandb
from hydra import compose, initialize_config_dir
from hydra.utils import get_class
from pytorch_lightning.loggers import CSVLogger

from gnnsync.errors import GnnsyncError
from gnnsync.experiments.job import run as job
from gnnsync.experiments.job.run import run_job
from gnnsync.experiments.paths import conf_dir
from gnnsync.experiments.tracking import loggers
from gnnsync.experiments.tracking.wandb_logger import WandbLogger
from tests.command import main
from tests.experiments.tracking.wandb_file import TrackedRun, read_finished


def runs(folder: Path) -> list[TrackedRun]:
    return [read_finished(path) for path in sorted(folder.rglob("*.wandb"))]


@pytest.fixture
def offline(composed, tmp_path, monkeypatch):
    """Run small jobs that are tracked offline."""
    # What would make all runs one, if it were heeded.
    monkeypatch.setenv("WANDB_RUN_ID", "same")
    monkeypatch.setenv("WANDB_RESUME", "allow")

    def run(*overrides: str):
        return run_job(composed(f"output_dir={tmp_path}", "logger=wandb_offline", *overrides))

    return run


def test_a_run_holds_config_losses_summary_table_pictures_and_checkpoint(offline, tmp_path):
    rows = offline(
        "data.seeds=[1,2]", "loss=cycle", "logger.wandb.checkpoint=true", "logger.wandb.tags=[mine]"
    )
    (found,) = runs(tmp_path)
    about = found.about
    assert about.display_name == "gnnsync loss=CycleLoss, erdos_renyi, p=0.4, eta=0.2, k=1"
    assert (about.project, about.run_group, about.job_type) == ("gnnsync", "debug", "gnnsync")
    assert {"gnnsync", "erdos_renyi", "k=1", "mine"} <= set(about.tags)
    assert found.config["method"]["loss"]["_target_"] == "gnnsync.learn.losses.CycleLoss"
    assert found.config["data"]["eta"] == 0.2
    assert found.config["job_hash"] == rows[0]["job_hash"]
    assert "${" not in json.dumps(found.config)
    curve = [point for point in found.history if "loss/train" in point]
    assert [point["trainer/global_step"] for point in curve] == [1, 10, 20]
    assert all(np.isfinite(point["loss/train"]) for point in curve)
    assert found.summary["mse"] == pytest.approx(np.mean([row["mse"] for row in rows]))
    assert found.summary["replicas/nrows"] == 2
    assert found.summary["figures/loss/format"] == found.summary["figures/angles/format"] == "png"
    assert "model" in found.artifacts
    assert found.exit_code == 0
    (folder,) = [path.parent for path in tmp_path.rglob("*.wandb")]
    assert folder.parent.parent.name.endswith(rows[0]["job_hash"][:8])
    (table,) = (json.loads(p.read_text()) for p in tmp_path.rglob("*.table.json"))
    at = [table["columns"].index(name) for name in ("network_seed", "mse")]
    assert [[row[i] for i in at] for row in table["data"]] == [
        [row["network_seed"], row["mse"]] for row in rows
    ]


def test_jobs_in_one_process_have_a_run_each(offline, tmp_path):
    for eta in (0.1, 0.2, 0.3):
        offline("method=spectral_rn", "figures=false", f"data.eta={eta}")
    found = runs(tmp_path)
    assert len({run.about.run_id for run in found}) == 3
    assert sorted(run.config["data"]["eta"] for run in found) == [0.1, 0.2, 0.3]
    assert [run.exit_code for run in found] == [0, 0, 0]
    assert not any("model" in run.artifacts for run in found)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_job_that_breaks_off_ends_as_failed(offline, tmp_path, monkeypatch, error):
    def broken(*_, **__):
        raise error("in the middle")

    monkeypatch.setattr(job, "result_rows", broken)
    with pytest.raises(error, match="in the middle"):
        offline("method=spectral_rn")
    (found,) = runs(tmp_path)
    assert found.exit_code == 1
    assert "mse" not in found.summary
    assert not list(tmp_path.rglob("result.json"))


def test_a_map_is_among_the_pictures(offline, tmp_path):
    points = tmp_path / "cloud.csv"
    points.write_text("\n".join(f"{i % 8},{i // 8}" for i in range(64)))
    small = ["data.neighbours=12", "data.eta=0.02", "data.seeds=[1]", "trials=1"]
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        cfg = compose(
            "config",
            [
                "data=points",
                f"data.path={points}",
                "method=spectral_rn",
                "logger=wandb_offline",
                f"output_dir={tmp_path}",
                *small,
            ],
        )
    run_job(cfg)
    (found,) = runs(tmp_path)
    assert found.summary["figures/map/format"] == "png"
    assert found.summary["ane"] >= 0


def test_a_run_that_cannot_be_opened_does_not_stop_the_job(offline, tmp_path, monkeypatch, caplog):
    def refuse(**_):
        raise wandb.Error("no room\nfor details")

    monkeypatch.setattr(wandb, "init", refuse)
    rows = offline("figures=false")
    assert rows[0]["mse"] >= 0
    assert "no run could be opened (no room); this job is not tracked" in caplog.text
    monkeypatch.setattr(job, "result_rows", None)
    with pytest.raises(TypeError, match="NoneType"):  # and hides no other error
        offline("method=spectral_rn")


def test_without_a_login_a_job_goes_on_offline_and_says_so(composed, tmp_path, monkeypatch, caplog):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    run_job(composed(f"output_dir={tmp_path}", "logger=wandb", "method=spectral_rn"))
    assert "Weights & Biases: no login found (run `wandb login` once" in caplog.text
    (path,) = tmp_path.rglob("*.wandb")
    assert path.parent.name.startswith("offline-run-")
    assert read_finished(path).exit_code == 0


def test_nothing_of_the_machine_goes_into_a_run(offline, tmp_path):
    import getpass
    import platform

    offline("method=spectral_rn", "figures=false")
    (found,) = runs(tmp_path)
    assert found.about.host == "-"
    assert not found.about.git.commit
    assert not list(tmp_path.rglob("requirements.txt"))
    assert not list(tmp_path.rglob("wandb-metadata.json"))
    assert not list(tmp_path.rglob("output.log"))
    content = next(tmp_path.rglob("*.wandb")).read_bytes()
    assert platform.node().encode() not in content or len(platform.node()) < 4
    assert f'"{getpass.getuser()}"'.encode() not in content


def test_a_missing_package_is_refused_before_any_work(composed, tmp_path, monkeypatch):
    """A logger that cannot be imported, here one of a package that does not exist."""
    monkeypatch.setattr(job, "solve_replicas", None)
    target = "+logger.other._target_=no_such_package.Logger"
    with pytest.raises(GnnsyncError, match=r"logger\.other: its package is not installed") as error:
        run_job(composed(f"output_dir={tmp_path}", target))
    assert "\n" not in str(error.value)


def test_a_bad_option_is_one_line(composed, tmp_path):
    for override, message in [
        ("logger.wandb.mode=x", r"logger\.wandb\.mode = 'x': must be one of online, offline"),
        ("+logger.wandb.api_key=abc", r"logger\.wandb: .*WandbLogger"),
        ("+logger.mode=offline", r"logger\.mode: is now logger\.wandb\.mode"),
    ]:
        with pytest.raises(GnnsyncError, match=message) as error:
            run_job(composed(f"output_dir={tmp_path}", "logger=wandb", override))
        assert "\n" not in str(error.value)


def test_a_sweep_with_a_bad_logger_is_refused_as_a_whole(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["gnnsync"])
    sweep = [
        "data.eta=0.1,0.2",
        f"output_dir={tmp_path}",
        "logger=wandb",
        "logger.wandb.mode=never",
    ]
    assert main(["run", "-m", *sweep]) == 2
    assert "logger.wandb.mode = 'never': must be one of online, offline" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_csv_has_losses_and_final_metrics(composed, tmp_path):
    rows = run_job(composed(f"output_dir={tmp_path}", "figures=false"))
    (path,) = tmp_path.rglob("metrics.csv")
    lines = list(csv.DictReader(path.open()))
    losses = [
        (int(line["step"]), float(line["loss/train"])) for line in lines if line["loss/train"]
    ]
    assert [step for step, _ in losses] == [1, 10, 20]
    (mse,) = (float(line["mse"]) for line in lines if line["mse"])
    assert mse == pytest.approx(rows[0]["mse"])
    # Logged by `trainer.test`, at the optimizer step and not at the macro-step.
    (step,) = (float(line["step"]) for line in lines if line["mse/test"])
    assert step == 20


def test_tensorboard_has_losses_metrics_and_pictures(composed, tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    rows = run_job(composed(f"output_dir={tmp_path}", "logger=tensorboard"))
    found = events.EventAccumulator(str(next(tmp_path.rglob("tensorboard")))).Reload()
    losses = found.Scalars("loss/evaluation")
    assert [event.step for event in losses] == [1, 10, 20]
    assert all(np.isfinite(event.value) for event in losses)
    assert found.Scalars("mse")[0].value == pytest.approx(rows[0]["mse"], rel=1e-6)
    assert set(found.Tags()["images"]) == {"loss", "angles"}


def test_any_lightning_logger_can_be_named_and_its_options_are_not_kept(composed, tmp_path):
    mine = ["logger=none", "+logger.mine._target_=pytorch_lightning.loggers.CSVLogger"]
    run_job(
        composed(f"output_dir={tmp_path}", "figures=false", *mine, "+logger.mine.prefix=secret")
    )
    (metrics,) = tmp_path.rglob("metrics.csv")
    assert "secret-mse" in metrics.read_text()
    for name in ("config.yaml", "result.json", "job.log", "hparams.yaml"):
        assert "secret" not in next(tmp_path.rglob(name)).read_text()


def test_two_loggers_get_the_same_curve(composed, tmp_path):
    rows = run_job(
        composed(f"output_dir={tmp_path}", "figures=false", "logger=[csv,wandb_offline]")
    )
    lines = list(csv.DictReader(next(tmp_path.rglob("metrics.csv")).open()))
    (run,) = runs(tmp_path)
    curves = [
        [(int(x["step"]), float(x["loss/train"])) for x in lines if x["loss/train"]],
        [(x["trainer/global_step"], x["loss/train"]) for x in run.history if "loss/train" in x],
    ]
    assert [step for step, _ in curves[0]] == [1, 10, 20]
    np.testing.assert_allclose(curves[0], curves[1])
    assert run.summary["mse"] == pytest.approx(rows[0]["mse"])
    assert run.summary["mse/test"] == pytest.approx(rows[0]["mse"], abs=1e-5)


def test_a_classical_job_makes_no_csv_and_other_loggers(composed, tmp_path):
    classical = [f"output_dir={tmp_path}", "figures=false", "method=spectral_rn"]
    rows = run_job(composed(*classical, "logger=many"))
    assert not list(tmp_path.rglob("metrics.csv"))
    (run,) = runs(tmp_path)
    assert run.summary["mse"] == pytest.approx(rows[0]["mse"])


def test_a_failing_job_still_writes_its_losses(composed, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "result_rows", None)
    with pytest.raises(TypeError):
        run_job(composed(f"output_dir={tmp_path}"))
    lines = list(csv.DictReader(next(tmp_path.rglob("metrics.csv")).open()))
    assert [line["step"] for line in lines if line["loss/train"]] == ["1", "10", "20"]


class Failing(CSVLogger):
    """Cannot be given anything, and cannot be closed."""

    def __init__(self, folder, fail):
        super().__init__(str(folder), name=None, version="failing")
        self.fail, self.closed = fail, False

    def log_hyperparams(self, params):
        if "start" in self.fail:
            raise RuntimeError("no start")

    def close(self, status):
        self.closed = status
        if "end" in self.fail:
            raise RuntimeError("no end")


@pytest.mark.parametrize(
    ("fail", "job_error", "raised", "status"),
    [
        ("start", None, "no start", "failed"),
        ("end", None, "no end", "success"),
        ("end", ValueError("of the job"), "of the job", "failed"),
    ],
)
def test_every_logger_is_closed_and_no_error_of_a_job_is_hidden(
    fail, job_error, raised, status, tmp_path, monkeypatch, caplog
):
    made = [Failing(tmp_path, fail), Failing(tmp_path, "")]
    monkeypatch.setattr(loggers, "make_loggers", lambda *_: made)

    def run():
        with loggers.opened_loggers(None, tmp_path, None, {}):
            if job_error is not None:
                raise job_error

    with pytest.raises((RuntimeError, ValueError), match=raised):
        run()
    assert [logger.closed for logger in made] == [status, status]
    assert ("a logger could not be closed: no end" in caplog.text) == (job_error is not None)


def test_the_config_of_a_run_that_could_not_be_opened_takes_updates(tmp_path, monkeypatch):
    def refuse(**_):
        raise wandb.Error("no room")

    monkeypatch.setattr(wandb, "init", refuse)
    logger = WandbLogger(str(tmp_path), mode="offline")
    logger.log_hyperparams({"a": 1})
    logger.log_hyperparams({"b": 2})
    logger.close("success")


def test_the_old_place_of_the_wandb_logger_still_works_as_a_target():
    with pytest.warns(DeprecationWarning, match="experiments.tracking.wandb_logger"):
        found = get_class("gnnsync.experiments.wandb_logger.WandbLogger")
    assert found.__module__ == "gnnsync.experiments.tracking.wandb_logger"
