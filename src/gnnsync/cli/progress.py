"""What a command shows: stages, warnings and log messages while it works, then its summary."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from gnnsync.errors import one_line
from gnnsync.io.source import STDIN, Progress

# Where methods report their parts (`gnnsync.methods.robust.stages`).
PARTS_LOGGER = "gnnsync.methods.robust.stages"


def print_summary(
    arguments: argparse.Namespace, summary: dict[str, Any], paragraphs: list[str]
) -> None:
    """Print the paragraphs, or with `--json` the summary as one object.

    They go to standard error if `--output -` has taken standard output.
    """
    text = json.dumps(summary) if arguments.json else "\n\n".join(paragraphs)
    print(text, file=sys.stderr if arguments.output == STDIN else sys.stdout)


@contextlib.contextmanager
def stage(title: str) -> Iterator[Progress | None]:
    """Show a progress bar in a terminal; elsewhere print one line when the stage is done.

    The bar names the part of the method that is running; elsewhere parts that take longer than a
    second have a line each.
    """
    if not sys.stderr.isatty():
        start = time.perf_counter()
        with _parts(_print_part, logging.INFO):
            yield None
        print(f"{title}: {time.perf_counter() - start:.2f} s", file=sys.stderr, flush=True)
        return
    # Only a terminal needs it, and it takes 0.1 s to import.
    from rich import console, progress

    columns = (
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
    )
    stderr = console.Console(stderr=True)
    with progress.Progress(*columns, console=stderr, transient=True) as bars:
        bar = bars.add_task(title, total=None)

        def advance(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total or None)

        def name_part(part: str) -> None:
            bars.update(bar, description=f"{title}, {part}")

        with _parts(name_part, logging.DEBUG):
            yield advance


@contextlib.contextmanager
def _parts(show: Callable[[str], None], level: int) -> Iterator[None]:
    """Pass on what a method logs about its parts, from this level on."""
    handler = _PartHandler(level)
    handler.show = show
    logger = logging.getLogger(PARTS_LOGGER)
    before, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(min(level, logger.getEffectiveLevel()))
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        logger.propagate = propagate


class _PartHandler(logging.Handler):
    show: Callable[[str], None]

    def emit(self, record: logging.LogRecord) -> None:
        self.show(record.getMessage())


def _print_part(part: str) -> None:
    print(f"  {part}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def messages_on_stderr() -> Iterator[None]:
    """Send warnings and log messages of the package to standard error, one line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("warning: %(message)s"))
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


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {one_line(message)}", file=sys.stderr)
