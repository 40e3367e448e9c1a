"""A sweep to watch: a live panel in a terminal, elsewhere a line at every tenth of the jobs."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gnnsync.experiments.sweep.follow import Follower
from gnnsync.experiments.sweep.standing import Standing, duration

# Seconds between two looks at the files, and the largest share of time that looking may take.
_PAUSE, _SHARE = 0.5, 0.05
_BAR_WIDTH = 30
# Loggers of launchers, which name every job as they launch it.
_LAUNCHERS = ("hydra", "hydra_plugins")


@contextmanager
def watched(follower: Follower) -> Iterator[None]:
    """Show the standing of a sweep on standard error while its jobs run.

    A thread reads the files of the jobs, so that it works the same for all launchers. Failures are
    told when they happen. At the end, also after Ctrl-C, the counts stay as one line.
    """
    console = Console(file=sys.stderr, soft_wrap=True, highlight=False)
    display = _Panel(console) if console.is_terminal else _Lines()
    end = threading.Event()

    def watch() -> None:
        while not end.is_set():
            start = time.monotonic()
            _show(follower, display)
            end.wait(max(_PAUSE, (time.monotonic() - start) / _SHARE))

    thread = threading.Thread(target=watch, name="watch", daemon=True)
    start = time.monotonic()
    try:
        with _quiet_launchers(), display:
            thread.start()
            try:
                yield
            finally:
                end.set()
                thread.join()
                _show(follower, display)
    finally:
        took = duration(time.monotonic() - start)
        best = f"; {follower.standing.best}" if follower.standing.best else ""
        line = f"gnnsync: {follower.standing.counts()}; took {took}{best}"
        print(line, file=sys.stderr, flush=True)


def _show(follower: Follower, display: _Display) -> None:
    for line in follower.look():
        display.tell(f"gnnsync: {line}")
    display.update(follower.standing, follower.time_left())


@contextmanager
def _quiet_launchers() -> Iterator[None]:
    """Keep launchers from listing every job; their warnings are shown."""
    loggers = [logging.getLogger(name) for name in _LAUNCHERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


class _Display(Protocol):
    def __enter__(self) -> object: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def tell(self, line: str) -> None: ...

    def update(self, standing: Standing, left: float | None) -> None: ...


class _Panel:
    """A bar with the counts, the time left and the best job, drawn in place."""

    def __init__(self, console: Console) -> None:
        self.console = console
        # Refreshed by the thread that watches.
        self.live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> _Panel:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def tell(self, line: str) -> None:
        self.console.print(line, markup=False)

    def update(self, standing: Standing, left: float | None) -> None:
        self.live.update(panel(standing, left), refresh=True)


def panel(standing: Standing, left: float | None) -> Group:
    """What a terminal shows: a bar, counts and time left; below, the best job so far."""
    parts = [standing.counts()]
    if left is not None:
        parts.append(f"{duration(left)} left")
    line = Table.grid(padding=(0, 1))
    ended = standing.done + standing.failed
    bar = ProgressBar(total=standing.total, completed=ended, width=_BAR_WIDTH)
    cells = [Text("; ".join(parts), no_wrap=True, overflow="ellipsis")]
    line.add_row(*([bar, *cells] if standing.total else cells))
    best = Text(str(standing.best or ""), style="dim", no_wrap=True, overflow="ellipsis")
    return Group(line, best)


class _Lines:
    """A line whenever another tenth of the jobs has ended."""

    def __init__(self) -> None:
        self.stream = sys.stderr
        self.tenth = 0
        self.at_start: int | None = None

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def tell(self, line: str) -> None:
        print(line, file=self.stream, flush=True)

    def update(self, standing: Standing, left: float | None) -> None:
        ended = standing.done + standing.failed
        if self.at_start is None:
            self.at_start = ended
        launched = (standing.total or 0) - self.at_start
        tenth = 10 * (ended - self.at_start) // launched if launched > 0 else 0
        # The last line is that of the whole sweep.
        if self.tenth < tenth < 10:
            time_left = "" if left is None else f"; {duration(left)} left"
            best = f"; {standing.best}" if standing.best else ""
            self.tell(f"gnnsync: {standing.counts()}{time_left}{best}")
        self.tenth = max(tenth, self.tenth)
