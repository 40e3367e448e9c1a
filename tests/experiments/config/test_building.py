from __future__ import annotations

import pytest

from gnnsync.anchors import ShareAnchors
from gnnsync.errors import ConfigError
from gnnsync.experiments.config.building import build
from gnnsync.experiments.job.hashing import job_hash, resolved


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("data.p=1.5", r"data\.p = 1\.5: must be a number in \[0, 1\]"),
        ("data.eta=-0.1", r"data\.eta = -0\.1: .*\[0, 1\]"),
        ("data.eta=much", r"data\.eta = 'much': must be a number"),
        ("data.k=0", r"data\.k = 0: must be a whole number, at least 1"),
        ("data.k=1.5", r"data\.k = 1\.5: must be a whole number"),
        ("data.orientation=left", r"data\.orientation = 'left': .*random, upper, released"),
        ("data.seeds=3", r"data\.seeds = 3: must be a list"),
        ("prior.shape=0", r"prior\.shape = 0: must be"),
        ("model.encoder.dropout=1", r"model\.encoder\.dropout = 1: must be"),
        ("model.encoder.width=0", r"model\.encoder\.width = 0: must be"),
        ("model.steps.count=0", r"model\.steps\.count = 0: must be"),
        ("loss.norm=l7", r"loss\.norm = 'l7': must be one of frobenius, mean"),
        ("optimizer.lr=-1", r"optimizer = .*Invalid learning rate: -1"),
        ("trainer.max_steps=0", r"trainer\.max_steps = 0: must be"),
        ("trainer.precision=16", r"trainer\.precision = 16: must be 32-true or 64-true"),
        ("trainer.precision=32", r"trainer\.precision = 32: must be 32-true or 64-true"),
        ("+trainer.max_step=3", r"trainer\.max_step = 3: must be an argument of"),
        (
            "trainer.gradient_clip_val=1",
            r"must be null: .* callbacks\.gradient_clipping\.max_norm",
        ),
        ("trainer.devices=2", r"trainer\.devices = 2: a job trains on one device"),
        ("trainer.strategy=ddp", r"trainer\.strategy = ddp: a job trains on one device"),
        ("method.inner_steps=0", r"method\.inner_steps = 0: must be"),
        ("method.eval_every=0", r"method\.eval_every = 0: must be"),
        ("callbacks.stopping.patience=0", r"callbacks\.stopping\.patience = 0: must be"),
        ("callbacks.loss_curve.every=x", r"callbacks\.loss_curve\.every = 'x': must be"),
        (
            "+callbacks.mine._target_=builtins.list",
            r"callbacks = \[\]: must be Lightning callbacks",
        ),
        ("+trainer.patience=5", r"trainer\.patience: is now callbacks\.stopping\.patience"),
        ("+trainer.eval_every=5", r"trainer\.eval_every: is now method\.eval_every"),
        ("+trainer.steps_per_epoch=5", r"trainer\.steps_per_epoch: is now method\.inner_steps"),
        (
            "+trainer.options.profiler=simple",
            r"trainer\.options\.profiler: is now trainer\.profiler",
        ),
        ("+logger.mode=offline", r"logger\.mode: is now logger\.wandb\.mode"),
        ("+logger._target_=a.B", r"logger\._target_: is now logger\.NAME\._target_"),
        ("trials=0", r"trials = 0: must be"),
        ("seed=-1", r"seed = -1: must be"),
        ("fit=maybe", r"fit = 'maybe': must be true or false"),
        ("fit=false", r"fit = false: needs ckpt=PATH"),
        ("ckpt=x.ckpt", r"ckpt = x\.ckpt: is evaluated with fit=false"),
        ("sweep=../up", r"sweep = '\.\./up'"),
    ],
)
def test_a_bad_value_is_one_line_that_names_its_key(composed, override, message):
    with pytest.raises(ConfigError, match=message) as error:
        build(composed(override))
    assert "\n" not in str(error.value)


INDUCTIVE = "method=gnnsync_inductive_training"


@pytest.mark.parametrize(
    "overrides", [[], ["trainer=ddp"], ["trainer=ddp", "trainer.strategy=ddp_fork"]]
)
def test_the_inductive_training_may_use_several_devices(composed, overrides):
    build(composed(INDUCTIVE, *overrides))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("trainer.strategy=ddp", r"trainer\.strategy = ddp: .* need trainer=ddp"),
        ("trainer.strategy=auto", r"trainer\.devices = 2: .* need trainer=ddp"),
        ("trainer.num_nodes=2", r"trainer\.num_nodes = 2: several devices of one machine"),
        ("stream.batch_size=0", r"stream\.batch_size = 0: must be"),
        ("stream.law.sigma=[1,0]", r"stream\.law\.sigma"),
        ("method.loss.floor=0", r"method\.loss\.floor = 0|loss\.floor = 0"),
        ("method.network.bins=7", r"method\.network\.bins = 7"),
        ("scheduler.lr_lambda.warmup=2", r"scheduler\.lr_lambda\.warmup = 2"),
    ],
)
def test_a_bad_value_of_the_inductive_training_names_its_key(composed, override, message):
    with pytest.raises(ConfigError, match=message) as error:
        build(composed(INDUCTIVE, "trainer=ddp", override))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("override", [INDUCTIVE, "scheduler=cosine"])
def test_building_leaves_the_references_of_a_config(composed, override):
    """A sweep changes values of a config that it has checked by building it."""
    cfg = composed(override)
    build(cfg)
    cfg.seed, cfg.trainer.max_steps = 77, 99
    fresh = composed(override, "seed=77", "trainer.max_steps=99")
    assert job_hash(cfg) == job_hash(fresh)


def test_the_transductive_method_stays_on_one_device(composed):
    with pytest.raises(ConfigError, match="a job trains on one device"):
        build(composed("trainer.strategy=ddp_spawn"))


def test_settings_that_go_together(composed):
    settings, data, method = build(composed("data.k=2", "loss=cycle"))
    assert data.k == 2
    assert type(method.loss).__name__ == "CycleLoss"
    assert settings.trials == 1


class TestHash:
    def test_is_stable_and_short(self, composed):
        assert job_hash(composed()) == job_hash(composed())
        assert len(job_hash(composed())) == 16

    @pytest.mark.parametrize(
        "override",
        [
            "output_dir=elsewhere",
            "sweep=other",
            "logger=none",
            "resume=true",
            "figures=false",
            "checkpoint_every=7",
            "threads=2",
            "trainer.accelerator=auto",
            "callbacks=learning_rate",
            "callbacks=model_checkpoint",
            "callbacks=rich_progress",
            "~callbacks.progress",
            "callbacks.loss_curve.every=3",
            "+callbacks.memory._target_=gnnsync.learn.callbacks.KeepFreedMemory",
        ],
    )
    def test_ignores_what_is_not_science(self, composed, override):
        assert job_hash(composed(override)) == job_hash(composed())

    @pytest.mark.parametrize(
        "override",
        [
            "data.eta=0.3",
            "seed=1",
            "trials=2",
            "data/angles=uniform",
            "loss.norm=frobenius",
            "model/encoder=magnet",
            "method=spectral_rn",
            "trainer.max_steps=21",
            "trainer.precision=64-true",
            "callbacks.stopping.patience=3",
            "callbacks=early_stopping",
            "~callbacks.best",
            "+callbacks.timer._target_=pytorch_lightning.callbacks.Timer",
            "scheduler=cosine",
            "method.inner_steps=10",
        ],
    )
    def test_tells_different_science_apart(self, composed, override):
        assert job_hash(composed(override)) != job_hash(composed())

    def test_a_classical_method_does_not_depend_on_the_model(self, composed):
        plain = job_hash(composed("method=spectral_rn"))
        assert job_hash(composed("method=spectral_rn", "model.encoder.width=3")) == plain


def test_a_data_file_counts_by_its_content(tmp_path):
    from hydra import compose, initialize_config_dir

    from gnnsync.experiments.paths import conf_dir

    def hashed(name: str) -> str:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            return job_hash(compose("config", ["data=file", f"data.path={tmp_path / name}"]))

    (tmp_path / "a.csv").write_text("a,b,1\n")
    (tmp_path / "b.csv").write_text("a,b,1\n")
    assert hashed("a.csv") == hashed("b.csv")
    (tmp_path / "b.csv").write_text("a,b,2\n")
    assert hashed("a.csv") != hashed("b.csv")


def test_resolved_has_no_references(composed):
    plain = resolved(composed())
    assert "${" not in str(plain)
    assert plain["method"]["trainer"]["max_steps"] == 20


def test_anchors_reach_the_method_or_are_refused(composed):
    _, _, method = build(composed("method=anchored", "anchors=share"))
    assert isinstance(method.anchors, ShareAnchors)
    with pytest.raises(ConfigError, match=r"use method=anchored method\.method\._target_=.*GPM"):
        build(composed("method=gpm", "anchors=share"))
