"""`gnnsync run --cfg` and `--info` print no key of a tracking service."""

from __future__ import annotations

import logging

import pytest

from gnnsync.experiments.tracking.printed import secrets_of_command
from gnnsync.experiments.tracking.secrets import MASK
from tests.command import main

KEY = "s3cret-0123456789abcdef"
GIVEN = [
    *("logger=none", "+logger.mine._target_=a.B", f"+logger.mine.api_key={KEY}"),
    *("+logger.mine.pin_key=ab1", "+logger.mine.entity=${oc.env:THE_VALUE}"),
]


@pytest.fixture(autouse=True)
def value(monkeypatch, tmp_path):
    monkeypatch.setenv("THE_VALUE", "value-of-the-environment")
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()  # Hydra adds handlers at every start
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize(
    "options",
    [
        ["--cfg", "job"],
        ["--cfg", "all", "--resolve"],
        ["--cfg=hydra"],
        ["-c", "job", "--package", "logger.mine"],
        ["--info", "config"],
        ["-i=all"],
    ],
    ids=" ".join,
)
def test_a_printed_config_has_no_key(options, capfd):
    assert main(["run", *options, *GIVEN]) == 0
    told = capfd.readouterr()
    for secret in (KEY, "ab1", "value-of-the-environment"):
        assert secret not in told.out + told.err
    assert MASK in told.out
    assert "a.B" in told.out, "what is no secret is there"


def test_keys_of_files_are_found(tmp_path, capfd):
    """Of a folder given with --config-dir, which Hydra joins to its own."""
    (tmp_path / "conf" / "logger").mkdir(parents=True)
    (tmp_path / "conf" / "logger" / "mine.yaml").write_text(f"mine: {{token: {KEY}}}\n")
    assert main(["run", "--config-dir", "conf", "--cfg", "job", "logger=mine"]) == 0
    told = capfd.readouterr().out
    assert f"token: {MASK}" in told.replace("'", "")
    assert KEY not in told


def test_a_config_without_secrets_is_printed_as_it_is(capfd):
    assert main(["run", "--cfg", "job", "logger=wandb"]) == 0
    told = capfd.readouterr().out
    assert "project: gnnsync" in told
    assert MASK not in told


def test_a_command_that_cannot_be_composed_has_the_secrets_of_its_arguments():
    arguments = ["--cfg", "job", "data=nothing", f"+logger.mine.api_key={KEY}"]
    assert KEY in secrets_of_command(arguments).values
