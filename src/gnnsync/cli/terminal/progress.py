"""What a command shows: stages, warnings and log messages while it works, then its summary."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from gnnsync.cli.terminal.time_left import progress_text
from gnnsync.errors import one_line, printable
from gnnsync.io.input.source import STDIN, Progress
from gnnsync.work import LONG_SECONDS, Work, watched

# Seconds between lines about the progress, where there is no terminal to draw a bar.
_LINE_SECONDS = 10.0


def print_summary(
    arguments: argparse.Namespace, summary: dict[str, Any], paragraphs: list[str]
) -> None:
    """Print the paragraphs, or with `--json` the summary as one object.

    They go to standard error if `--output -` has taken standard output.
    """
    text = json.dumps(summary) if arguments.json else "\n\n".join(paragraphs)
    print(text, file=sys.stderr if arguments.output == STDIN else sys.stdout)


def print_table(write: Callable[[TextIO], None]) -> None:
    """Let `write` write a table to standard output; in a terminal, names cannot control it."""
    if not sys.stdout.isatty():
        write(sys.stdout)
        return
    table = io.StringIO()
    write(table)
    print("\n".join(map(printable, table.getvalue().split("\n"))), end="")


@contextlib.contextmanager
def reading(title: str) -> Iterator[Progress | None]:
    """Show how much of a file is read as a bar in a terminal; elsewhere one line at the end."""
    with _timed(title), _bar(title) as bar:
        yield None if bar is None else bar.show_count


@contextlib.contextmanager
def working(title: str, time_limit: float | None = None) -> Iterator[None]:
    """Show the stages of the work in the block, the part done and the time left.

    In a terminal a bar; elsewhere a line for each stage of more than a second, one every ten
    seconds, and one at the end.

    Args:
        title: of the whole work.
        time_limit: see `gnnsync.work.Work`.
    """
    with _timed(title), _bar(title) as bar:
        show = _Lines().show if bar is None else bar.show_work
        with watched(Work(time_limit, show)):
            yield


class _Lines:
    """Prints the progress of work in lines: stages that took long, and where it is now and then."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._stage, self._began = "", self._last

    def show(self, work: Work) -> None:
        """Print a line if it is time for one."""
        now = time.perf_counter()
        name = work.stages[0] if work.stages else ""
        if name != self._stage:
            seconds = now - self._began
            if self._stage and seconds > LONG_SECONDS:
                self._print(f"{self._stage}: {seconds:.2f} s ({progress_text(work)})", now)
            self._stage, self._began = name, now
        elif now - self._last > _LINE_SECONDS:
            self._print(f"{', '.join(work.stages)}: {progress_text(work)}", now)

    def _print(self, text: str, now: float) -> None:
        print(f"  {text}", file=sys.stderr, flush=True)
        self._last = now


@contextlib.contextmanager
def _timed(title: str) -> Iterator[None]:
    """Print the seconds at the end, except in a terminal, where the bar has shown them."""
    start = time.perf_counter()
    yield
    if not sys.stderr.isatty():
        seconds = time.perf_counter() - start
        print(f"{printable(title)}: {seconds:.2f} s", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _bar(title: str) -> Iterator[Any]:
    """The bar in a terminal; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    # Only a terminal needs it, and Rich takes 0.1 s to import.
    from gnnsync.cli.terminal.bar import Bar

    with Bar(printable(title)) as bar:
        yield bar


@contextlib.contextmanager
def messages_on_stderr() -> Iterator[None]:
    """Send warnings and log messages of the package to standard error, one line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_OneLine("warning: %(message)s"))
    logger = logging.getLogger("gnnsync")
    logger.addHandler(handler)
    propagate, logger.propagate = logger.propagate, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _show_warning
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


class _OneLine(logging.Formatter):
    """Messages in one line each, fit for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """The message, with escapes for what would control a terminal."""
        return one_line(super().format(record))


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {one_line(message)}", file=sys.stderr)
