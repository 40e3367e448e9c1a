from __future__ import annotations

import re
from pathlib import Path

import pytest

from gnnsync.errors import ConfigError
from gnnsync.experiments.config.arguments import (
    OPTIONS,
    check_arguments,
    config_dirs,
    help_text,
    in_order,
    overrides_in,
)
from tests.command import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--halp"], "--halp: no such option; did you mean --help?"),
        (["-x"], "-x: no such option; "),
        (["--config-die=x"], "--config-die: no such option; did you mean --config-dir?"),
        (["gpm"], "gpm: must be GROUP=CHOICE or KEY=VALUE; did you mean method=gpm?"),
        (["-m", "zzz"], "zzz: must be GROUP=CHOICE or KEY=VALUE"),
        (["data.angles=uniform"], "did you mean data/angles=uniform?"),
    ],
)
def test_refused_before_hydra_loads(arguments, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        check_arguments(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "data.eta=0.1,0.2", "~callbacks.best", "+a=1", "++b=2"],
        ["--cfg", "job", "--resolve"],
        ["--multi", "method=gpm"],
        ["-cd", "folder", "loss=mine"],
        ["--config-dir=folder", "data.orientation=released"],
    ],
)
def test_accepted(arguments):
    check_arguments(arguments)


def test_every_option_of_hydra_is_known(capsys):
    assert main(["run", "--hydra-help"]) == 0
    flags = re.findall(r"^(--[\w-]+)(?:,(-\w+))? :", capsys.readouterr().out, re.MULTILINE)
    named = {name for pair in flags for name in pair if name}
    assert len(named) > 15
    assert named <= set(OPTIONS)


def test_overrides_and_folders_are_told_apart_from_options():
    arguments = ["-m", "--cfg", "job", "-cd", "mine", "a=1", "~b", "--package", "data", "c=2"]
    assert overrides_in(arguments) == ["a=1", "~b", "c=2"]
    assert config_dirs(arguments) == [Path("mine")]
    assert config_dirs(["--config-dir=other"]) == [Path("other")]
    assert config_dirs(["a=1"]) == []
    assert config_dirs([]) == []


def test_the_help_lists_choices_of_an_own_folder(tmp_path):
    (tmp_path / "loss").mkdir()
    (tmp_path / "loss" / "mine.yaml").write_text("a: 1\n")
    text = help_text(["--help", f"--config-dir={tmp_path}"])
    assert re.search(r"^loss: .*\bmine\b", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("options", [["-m", "--cfg", "job"], ["--info", "all", "--multirun"]])
def test_options_that_exclude_each_other_are_one_line(options):
    with pytest.raises(ConfigError, match=r"-m and --(cfg|info): give one of them"):
        check_arguments(options)


def test_options_may_stand_between_overrides():
    given = ["data.n=20", "-m", "method=gpm,irls", "--config-dir", "conf", "data.p=0.5"]
    assert in_order(given) == [
        *("-m", "--config-dir", "conf", "data.n=20", "method=gpm,irls", "data.p=0.5")
    ]
