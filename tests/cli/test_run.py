"""`gnnsync run`: what reaches Hydra, exit codes, one-line errors, what is printed."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import pytest

from gnnsync.cli.main import main as command
from tests.command import main

SMALL = ["run", "data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1", "figures=false"]
GPM = [*SMALL, "method=gpm", "logger=none"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder of its own; Hydra configures the root logger, which other tests should not see."""
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["-m", "data.eta=0.1,0.2"], ["-m", "data.eta=0.1,0.2"]),
        (["-v"], ["print_config=true"]),
        (["-v", "-m", "a=1"], ["-m", "a=1", "print_config=true"]),
        (
            ["a=1", "b=2", "--config-dir=x", "--verbose"],
            ["a=1", "b=2", "print_config=true", "--config-dir=x"],
        ),
    ],
)
def test_the_command_becomes_the_application(monkeypatch, given, expected):
    started = []
    monkeypatch.setattr(os, "execv", lambda *call: started.append(call))
    command(["run", *given])
    ((program, arguments),) = started
    assert program == sys.executable
    assert arguments[arguments.index("gnnsync.cli.run") + 1 :] == expected


def test_a_job_prints_method_data_and_folder(capsys, tmp_path):
    assert main(GPM) == 0
    method, _, place, *others = capsys.readouterr().out.splitlines()
    (result,) = tmp_path.rglob("result.json")
    folder = result.parent.relative_to(tmp_path)
    assert (method, place) == ("method: GPM", f"folder: {folder}")
    assert not any("_target_" in line for line in others)
    assert main([*GPM, "print_config=true"]) == 0
    assert "_target_: gnnsync.methods" in capsys.readouterr().out


def test_the_printed_config_is_no_part_of_the_job(tmp_path):
    assert main([*GPM, "print_config=true"]) == 0
    assert main([*GPM]) == 0
    assert len(list(tmp_path.rglob("result.json"))) == 1


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data.q=1"], "data.q: no such key; allowed here: "),
        (["trails=3"], "trails: no such key; did you mean trials?"),
        (["data=eroo"], "data = eroo: did you mean data=ero? must be one of "),
        (["data=ero", "data.eta=0.1,0.2"], "data.eta=0.1,0.2: several values are a sweep: add -m"),
        (
            ["data.eta=range(0,1,0.1)"],
            "data.eta=range(0,1,0.1): several values are a sweep: add -m",
        ),
        (["experiment=main_k1"], "did you mean experiment=paper/main_k1? must be one of "),
        (["encoder=magnet"], "encoder: no such key; did you mean model/encoder=magnet?"),
        (["model=magnet"], "model: no such group; did you mean model/encoder=magnet? there are "),
        (["model.encoder=magnet"], "has a slash: did you mean model/encoder=magnet?"),
        (["loss=magnet"], "loss = magnet: did you mean model/encoder=magnet? must be one of "),
        (["dta.p=0.1"], "dta.p: no such key; did you mean data.p?"),
        (["eta=0.1"], "eta: no such key; did you mean data.eta?"),
        (["--halp"], "--halp: no such option; did you mean --help?"),
        (["gmp=1"], "gmp: no such key"),
        (["data.p=2"], "data.p = 2: must be a number in [0, 1]"),
        (["data.p=0.001", "data.max_draws=1"], "no connected measurement graph in 1 draws"),
        (["output_dir=/proc/none"], "output_dir: cannot write in /proc/none"),
        (["a=[1,"], "gnnsync: a=[1,: "),
        (["data.n=${nothing}"], "nothing"),
        (["--config-dir=nowhere"], "--config-dir nowhere: no such folder"),
        (["-m", "data.q=1"], "data.q: no such key; allowed here: "),
        (["-m", "data=ero,rggo", "trails=3"], "trails: no such key; did you mean trials?"),
        (["-m", "data.eta=0.1,7"], "data.eta = 7: must be a number in [0, 1]"),
        (["-m", "data.eta=interval(0,1)"], "data.eta: an interval cannot be swept"),
        (["trainer.patience=5"], "trainer.patience: is now callbacks.stopping.patience"),
    ],
    ids=str,
)
def test_a_fault_is_one_line_and_leaves_no_result(capsys, tmp_path, overrides, message):
    options = [text for text in overrides if text.startswith("-")]
    assert main(["run", *options, *GPM[1:], *overrides[len(options) :]]) == 2
    told = capsys.readouterr().err
    assert told.startswith("gnnsync: ")
    assert message in told
    assert told.count("\n") == 1
    assert not list(tmp_path.rglob("result.json"))


@pytest.mark.parametrize("command", [["run"], ["run", "-m"]])
def test_a_file_that_is_not_named_is_one_line(capsys, tmp_path, command):
    assert main([*command, "method=gpm", "data=file"]) == 2
    told = capsys.readouterr().err
    assert told == "gnnsync: data.path: is not set, and has no default: add data.path=FILE\n"
    assert not list(tmp_path.iterdir())


def test_a_bad_value_leaves_nothing_on_disk(tmp_path):
    assert main([*GPM, "data.p=2"]) == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("preset", "missing"),
    [
        ("paper/main_k1", "data, data.eta"),
        ("baselines", "data.eta"),
        ("frontier", "cell"),
        ("tune", "optimizer, optimizer.lr, model.encoder.width, model.encoder.dropout"),
    ],
)
def test_a_sweep_preset_without_m_is_refused(capsys, tmp_path, preset, missing):
    assert main([*GPM, f"experiment={preset}"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"gnnsync: experiment={preset} is a sweep over {missing}")
    assert ": add -m (" in told
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("stated", "folder"),
    [
        (["sweep=null"], "runs"),
        (["data=ero", "data.eta=0.2"], "paper/main_k1"),
        (["debug=fast"], "debug"),
    ],
)
def test_one_job_of_a_sweep_preset_can_be_stated(tmp_path, stated, folder):
    assert main([*GPM, "experiment=paper/main_k1", *stated]) == 0
    (result,) = tmp_path.rglob("result.json")
    assert result.parents[1] == tmp_path / "outputs" / folder


def test_hydra_itself_can_sweep(capsys, tmp_path):
    """With Hydra's own sweeper jobs run and are found again, without plan and summary."""
    sweep = ["run", "-m", *GPM[1:], "hydra/sweeper=basic", "data.eta=0.1,0.2"]
    assert main(sweep) == 0
    assert len(list(tmp_path.rglob("result.json"))) == 2
    capsys.readouterr()
    assert main(sweep) == 0
    assert capsys.readouterr().err.count("is done already") == 2


def test_help_into_a_closed_pipe_is_silent():
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "gnnsync.cli.run", "--help"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (run.returncode, run.stderr) == (0, "")
