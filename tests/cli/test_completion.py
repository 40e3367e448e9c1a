"""Completion: the words that are offered, and real shells that complete them."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import ClassVar

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
        ("gnnsync locate --anc", ["--anchors"]),
        ("gnnsync run data=rg", ["data=rggo"]),
        ("gnnsync run -m data=ero,rg", ["data=ero,rggo"]),
        ("gnnsync run experiment=paper/main_k1", ["experiment=paper/main_k1"]),
        ("gnnsync run model/encoder=m", ["model/encoder=magnet"]),
        ("gnnsync run +cell=unseen/ring", ["+cell=unseen/ring_n200"]),
        ("gnnsync run -m -v data.e", ["data.eta="]),
        ("gnnsync run data=ero data", ["data.p=", "data.eta=", "data=", "data/angles=", "data/"]),
        ("gnnsync run mode", ["model/"]),
        ("gnnsync run model/e", ["model/encoder="]),
        ("gnnsync run --mul", ["--multirun"]),
        ("gnnsync solve --no-such", []),
        ("gnnsync list --st", ["--status"]),
        ("gnnsync show --j", ["--json"]),
        ("gnnsync report --tog", ["--together"]),
        ("gnnsync solve off", []),
        ("gnnsync locate --anch", ["--anchors"]),
        ("gnnsync completion z", ["zsh"]),
        ("gnnsync nothing -", []),
    ],
)
def test_what_is_offered(line, words):
    assert offered(line, keys) == words


def test_the_beginning_offers_all_commands():
    assert {"run", "solve", "locate", "list", "show"} < set(offered("gnnsync ", keys))


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


class Shell:
    """An interactive shell in which `gnnsync` is this checkout.

    Args:
        name: `bash`, `zsh` or `fish`.
        folder: home and working directory; nothing of the user's own settings is read.
    """

    options: ClassVar = {
        "bash": ["--norc", "--noprofile", "-i"],
        "zsh": ["-f", "-i"],
        "fish": ["--no-config", "-i"],
    }

    def __init__(self, name: str, folder: Path) -> None:
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
            "LC_ALL": "C.UTF-8",
        }
        self.unread = ""  # a single read may bring more than is waited for
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(shutil.which(name), [name, *self.options[name]], environment)
        # A line as long as the commands: a narrow terminal would break them.
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))

    def send(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def run(self, command: str) -> None:
        """Run a command and wait for its end."""
        self.send(f"{command}; echo do''ne\r")
        self.read_until("done")

    def read_until(self, text: str, seconds: float = 60) -> str:
        """What is shown until `text`, without the commands that colour it."""
        end = time.monotonic() + seconds
        while text not in self.unread:
            assert time.monotonic() < end, self.unread
            if select.select([self.descriptor], [], [], 1)[0]:
                self.unread += os.read(self.descriptor, 65536).decode(errors="replace")
                self.unread = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]", "", self.unread)
        seen, found, self.unread = self.unread.partition(text)
        return seen + found

    def close(self) -> None:
        self.send("\x15exit\r")
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


INSTALL = {
    "bash": 'eval "$(gnnsync run --shell-completion install=bash)"',
    "zsh": 'eval "$(gnnsync run --shell-completion install=zsh)"',
    "fish": "gnnsync run --shell-completion install=fish | source",
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_completes_commands_choices_and_keys(name, tmp_path):
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    shell = Shell(name, tmp_path)
    shell.run(INSTALL[name])
    for typed, completed in (
        ("gnnsync so\t", "gnnsync solve"),
        ("gnnsync run data=rg\t", "data=rggo"),
        ("gnnsync run -m experiment=paper/us_c\t", "experiment=paper/us_cities"),
        ("gnnsync run -m method=gpm,ir\t", "method=gpm,irls"),
        ("gnnsync run trainer.max_st\t", "trainer.max_steps="),
        ("gnnsync run --multi\t", "--multirun"),
        ("gnnsync run model/enc\t", "model/encoder="),
    ):
        shell.send(typed)
        shell.read_until(completed)
        shell.send("\x15")
    (tmp_path / "offsets.csv").touch()
    shell.send("gnnsync solve offs\t")
    shell.read_until("gnnsync solve offsets.csv")
    shell.close()


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_the_line_that_hydras_help_names_works_in_zsh(tmp_path):
    shell = Shell("zsh", tmp_path)
    shell.run(INSTALL["bash"])  # Hydra's help has one line for both
    shell.send("gnnsync so\t")
    shell.read_until("gnnsync solve")
    shell.close()
