"""The command `gnnsync` within the process of a test."""

from __future__ import annotations

import sys
from unittest import mock

from gnnsync.cli import main as command
from gnnsync.cli import run


def main(arguments: list[str]) -> int:
    """Exit code of `gnnsync ARGUMENTS`; `run` without the new process that the command starts."""
    if arguments[0] != "run":
        return command(arguments)
    with mock.patch.object(sys, "argv", ["gnnsync run", *arguments[1:]]):
        try:
            return run.main()
        except SystemExit as end:
            return int(end.code or 0)
