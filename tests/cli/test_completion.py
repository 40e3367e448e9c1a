"""Completion: the words that are offered, and a real bash that completes them."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnnsync.cli.completion import SHELLS, offered
from tests.command import main

ROOT = Path(__file__).resolve().parents[2]


def keys(arguments: list[str]) -> list[str]:
    """In place of Hydra."""
    assert not [text for text in arguments if text.startswith("-")]
    return ["data.p=", "data.eta=", "data=", "data/angles="]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gnnsync so", ["solve"]),
        ("gnnsync run data=rg", ["data=rggo"]),
        ("gnnsync run -m data=ero,rg", ["data=ero,rggo"]),
        ("gnnsync run experiment=paper/main_k1", ["experiment=paper/main_k1"]),
        ("gnnsync run model/encoder=m", ["model/encoder=magnet"]),
        ("gnnsync run +cell=unseen/ring", ["+cell=unseen/ring_n200"]),
        ("gnnsync run -m -v data.e", ["data.eta="]),
        ("gnnsync run data=ero data", ["data.p=", "data.eta=", "data=", "data/angles="]),
        ("gnnsync run --mul", ["--multirun"]),
        ("gnnsync solve --no-such", []),
        ("gnnsync list --st", ["--status"]),
        ("gnnsync show --j", ["--json"]),
        ("gnnsync report --tog", ["--together"]),
        ("gnnsync solve off", []),
        ("gnnsync completion z", ["zsh"]),
        ("gnnsync nothing -", []),
    ],
)
def test_what_is_offered(line, words):
    assert offered(line, keys) == words


def test_the_beginning_offers_all_commands():
    assert {"run", "solve", "list", "show"} < set(offered("gnnsync ", keys))


@pytest.mark.parametrize("shell", SHELLS)
def test_hydras_option_prints_the_script_of_the_command(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "completion query" in script
    assert main(["run", "--shell-completion", f"install={shell}"]) == 0
    assert capsys.readouterr().out == script
    assert main(["run", "-sc", f"uninstall={shell}"]) == 0
    assert "gnnsync" in capsys.readouterr().out


def test_an_unknown_shell_is_one_line(capsys):
    assert main(["run", "-sc", "install=tcsh"]) == 2
    assert capsys.readouterr().err == "gnnsync: install=tcsh: must be one of bash, zsh, fish\n"


def test_hydras_help_names_the_command(tmp_path):
    command = [sys.executable, "-m", "gnnsync.cli", "run", "--hydra-help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert 'eval "$(gnnsync run -sc install=bash)"' in done.stdout
    assert "gnnsync run -sc install=fish | source" in done.stdout


class Bash:
    """An interactive bash in which `gnnsync` is this checkout, with completion installed."""

    def __init__(self, folder: Path) -> None:
        programs = folder / "bin"
        programs.mkdir()
        program = programs / "gnnsync"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gnnsync.cli "$@"\n')
        program.chmod(0o755)
        environment = {
            "PATH": f"{programs}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT / "src"),
            "HOME": str(folder),
            "TERM": "dumb",
            "PS1": "ready> ",
        }
        self.unread = ""  # a single read may bring more than is waited for
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], environment)
        self.read_until("ready> ")

    def send(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def read_until(self, text: str, seconds: float = 60) -> str:
        end = time.monotonic() + seconds
        while text not in self.unread:
            assert time.monotonic() < end, self.unread
            if select.select([self.descriptor], [], [], 1)[0]:
                self.unread += os.read(self.descriptor, 65536).decode(errors="replace")
        seen, found, self.unread = self.unread.partition(text)
        return seen + found

    def close(self) -> None:
        self.send("\x15exit\n")
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_choices_and_keys(tmp_path):
    bash = Bash(tmp_path)
    bash.send('eval "$(gnnsync run --shell-completion install=bash)"; echo installed=$?\n')
    bash.read_until("installed=0")
    bash.read_until("ready> ")
    for typed, completed in (
        ("gnnsync so\t", "gnnsync solve "),
        ("gnnsync run data=rg\t", "data=rggo "),
        ("gnnsync run -m experiment=paper/main_k1\t", "experiment=paper/main_k1 "),
        ("gnnsync run -m method=gpm,ir\t", "method=gpm,irls "),
        ("gnnsync run trainer.max_st\t", "trainer.max_steps="),
        ("gnnsync run --multi\t", "--multirun "),
    ):
        bash.send(typed)
        bash.read_until(completed)
        bash.send("\x15")
    (tmp_path / "offsets.csv").touch()
    bash.send("gnnsync solve offs\t")
    bash.read_until("gnnsync solve offsets.csv")
    bash.close()
