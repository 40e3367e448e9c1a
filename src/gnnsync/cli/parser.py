"""Command lines whose errors are one line, as all other errors of the commands are."""

from __future__ import annotations

import argparse
from typing import NoReturn

from gnnsync.errors import one_line
from gnnsync.experiments.exit_codes import BAD_INPUT


class OneLineParser(argparse.ArgumentParser):
    """An argument parser that answers a wrong command line by one line, with exit code 2.

    Options are not abbreviated: `--deg` today may mean something else once there are more options.
    """

    def __init__(self, prog: str, **options: object) -> None:
        super().__init__(prog=prog, allow_abbrev=False, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Print `PROGRAM: message` and where the options are listed; exit."""
        text = f"{self.prog}: {one_line(message)}; {self.prog} --help lists the options\n"
        self.exit(BAD_INPUT, text)
