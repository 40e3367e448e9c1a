"""Checks of the files that a command is to write, before any work is done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from gnnsync.errors import DataFileError, ParameterError
from gnnsync.io.input.source import STDIN

_FIGURE_ENDINGS = (".png", ".pdf", ".svg")
_PAGE_ENDINGS = (".html", ".htm")


def check_given(values: Mapping[str, str | None]) -> None:
    """Refuse options with an empty value, as of a shell variable that is not set."""
    for option, value in values.items():
        if value == "":
            raise ParameterError(option, "", "given a value, or left out")


def check_drawings(plot: str | None, html: str | None) -> None:
    """Check the endings of the figure and of the page."""
    if plot and Path(plot).suffix.lower() not in _FIGURE_ENDINGS:
        raise ParameterError("--plot", plot, f"a file ending in {', '.join(_FIGURE_ENDINGS)}")
    if html and Path(html).suffix.lower() not in _PAGE_ENDINGS:
        raise ParameterError("--html", html, f"a file ending in {_PAGE_ENDINGS[0]}")


def check_files(inputs: Sequence[str | None], outputs: Mapping[str, str | None]) -> None:
    """Check that output files are different, are no input, and can be where they are to be.

    Args:
        inputs: names of the files that are read.
        outputs: names of the files to write, by their option.
    """
    files = [os.path.realpath(name) for name in outputs.values() if name and name != STDIN]
    if len(set(files)) < len(files):
        *first, last = outputs
        raise DataFileError(f"{', '.join(first)} and {last} must be different files")
    read = {os.path.realpath(name) for name in inputs if name and name != STDIN}
    for name in files:
        if os.path.isdir(name):
            raise DataFileError(f"{name}: is a directory: give a file")
        if not os.path.isdir(os.path.dirname(name)):
            raise DataFileError(f"{name}: its folder does not exist: create it")
        if name in read:
            raise DataFileError(f"{name}: is the input: give the output another name")
