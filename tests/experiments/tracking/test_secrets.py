"""Keys of tracking services are in no file and on no terminal, whatever a logger raises."""

from __future__ import annotations

import logging

import pytest
from omegaconf import OmegaConf

from gnnsync.experiments.tracking.secrets import MASK, Secrets, masked_arguments
from tests.command import main

KEY = "s3cret-0123456789abcdef"
JOB = ["data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1", "figures=false", "method=trivial"]
TARGET = "tests.experiments.tracking.leaking_logger.LeakingLogger"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize("early", ["true", "false"])
@pytest.mark.parametrize("key", [KEY, "${oc.env:THE_VALUE}"], ids=["given", "environment"])
@pytest.mark.parametrize("sweep", [[], ["-m"]], ids=["job", "sweep"])
def test_a_logger_that_raises_with_its_key_leaves_it_nowhere(
    sweep, key, early, tmp_path, capfd, monkeypatch
):
    monkeypatch.setenv("THE_VALUE", KEY)
    logger = [f"+logger.mine._target_={TARGET}", f"+logger.mine.api_key={key}"]
    logger += [f"+logger.mine.early={early}", "logger=none"]
    code = main(["run", *sweep, *JOB, *logger, *(["data.eta=0.1,0.2"] if sweep else [])])
    assert code == (2 if early == "true" else 1)
    told = capfd.readouterr()
    assert KEY not in told.out + told.err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
    if early == "false":
        assert f"no access: {MASK}" in told.err + told.out
        notes = [path for path in files if path.name == "failure.json"]
        assert len(notes) == (2 if sweep else 1)
        assert main(["list", "outputs"]) == main(["show", str(notes[0].parent)]) == 0
        assert KEY not in capfd.readouterr().out
    if sweep and early == "false":
        log = notes[0].with_name("job.log").read_text()
        assert f"connecting with {MASK}" in log
        assert f"401 for {MASK}" in log, "the chained traceback is there"


def test_the_command_that_continues_a_sweep_has_no_key(tmp_path, capfd):
    more = ["+logger.csv.api_key=short", f"+logger.csv.prefix={KEY}", "logger=none"]
    more += ["+logger.csv._target_=pytorch_lightning.loggers.CSVLogger"]
    assert main(["run", "-m", *JOB, *more, "data.eta=0.1,0.2"]) == 0
    told = capfd.readouterr().err
    assert f"+logger.csv.api_key={MASK}" in told.replace("'", "")
    assert "=short" not in told
    assert KEY not in told


def test_names_of_projects_are_no_secrets():
    cfg = OmegaConf.create({"logger": {"wandb": {"project": "gnnsync", "mode": "offline"}}})
    assert not {"gnnsync", "offline"} & set(Secrets.of(cfg).values)
    assert masked_arguments(["logger.wandb.project=mine"], Secrets()) == [
        "logger.wandb.project=mine"
    ]


def test_longer_secrets_are_masked_first():
    cfg = OmegaConf.create({"logger": {"a": {"token": "abcdef", "key": "abcdefgh"}}})
    assert Secrets.of(cfg).masked("abcdefgh abcdef") == f"{MASK} {MASK}"


@pytest.mark.parametrize(
    ("argument", "secret"),
    [
        (f"+logger.mine.api_key={KEY}", KEY),
        (f"+logger.mine.api_key={KEY}(x", KEY),
        (f"+logger.mine={{_target_:a.B,api_key:{KEY}}}", KEY),
        ("+logger.mine.url=https://me:pw4711x@host/x", "pw4711x"),
        ("+logger.mine.url=https://ghp_0123456789abcdef@host/x", "ghp_0123456789abcdef"),
        ("+logger.mine.url='https://host/x?run=1&access_token=pw4711x&y=2'", "pw4711x"),
        (f"+hydra.job.env_set.WANDB_API_KEY={KEY}", KEY),
        (f"+hydra.job.env_set={{WANDB_API_KEY:{KEY}}}", KEY),
        (f"logger={KEY}", KEY),
        ("+logger.mine.token='two words'", "two words"),
        ("+logger.mine.pin_key=ab1", "ab1"),
        (f"+logger.csv.prefix=plain,{KEY}", KEY),
    ],
)
def test_secrets_of_a_command_line_are_found_without_composing(argument, secret):
    told = Secrets.in_arguments([argument, "data.p=0.1"]).masked(f"bad: {argument} in data.p=0.1")
    assert secret not in told
    assert MASK in told
    assert "data.p=0.1" in told


def test_short_secrets_are_masked_beside_their_name_only():
    secrets = Secrets.of(OmegaConf.create({"logger": {"mine": {"api_key": "ab1"}}}))
    assert secrets.masked("api_key: ab1, lab12, api_key=ab1") == (
        f"api_key: {MASK}, lab12, api_key={MASK}"
    )


def test_secrets_are_masked_across_broken_lines():
    cfg = OmegaConf.create({"logger": {"mine": {"private_key": "BEGIN KEY abc END KEY"}}})
    assert Secrets.of(cfg).masked("key: BEGIN KEY abc\n    END KEY!") == f"key: {MASK}!"


def test_hydras_own_sweeper_stores_and_prints_no_key(tmp_path, capfd):
    job = [*JOB, "+logger.csv.prefix=" + KEY, "logger=csv", "data.eta=0.1,0.2"]
    assert main(["run", "-m", "hydra/sweeper=basic", *job]) == 0
    told = capfd.readouterr()
    assert f"+logger.csv.prefix={MASK}" in told.err
    assert KEY not in told.out + told.err
    stored = (tmp_path / "outputs" / "multirun.yaml").read_text()
    assert f"prefix: '{MASK}'" in stored or f"prefix: {MASK}" in stored
    assert KEY not in stored
