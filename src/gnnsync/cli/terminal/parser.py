"""Command lines whose errors are one line, as all other errors of the commands are."""

from __future__ import annotations

import argparse
import difflib
import re
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
        hint = f"{self.prog} --help lists the options"
        wrong = next((word for word in message.split() if word.startswith("-")), "").rstrip(":,")
        # `format_usage` is the public list of the options.
        known = re.findall(r"--[a-z][a-z-]*", self.format_usage())
        # `-degrees` lacks a dash; a single letter is near to nothing.
        whole = f"--{wrong.lstrip('-')}" if len(wrong) > 2 else ""
        close = difflib.get_close_matches(whole, known, n=1)
        if close and wrong not in known:
            hint = f"did you mean {close[0]}? {hint}"
        self.exit(BAD_INPUT, f"{self.prog}: {one_line(message)}; {hint}\n")
