"""The progress bar of a terminal: stage, part done, time so far and time left."""

from __future__ import annotations

import time
from types import TracebackType

from rich import console, progress
from rich.text import Text

from gnnsync.cli.terminal.time_left import duration
from gnnsync.work import Work


class Bar:
    """One line at the bottom of the terminal, which disappears at the end.

    Args:
        title: what is being done.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._bars = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
            _TimeLeft(),
            console=console.Console(stderr=True),
            transient=True,
        )
        self._task = self._bars.add_task(title, total=None, ends_at=None)

    def __enter__(self) -> Bar:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def show_count(self, done: int, total: int) -> None:
        """Bytes of a file, or anything else that is counted; a total of 0 is unknown."""
        self._bars.update(self._task, completed=done, total=total or None)
        speed = self._bars.tasks[0].elapsed
        if total and done and speed is not None:
            self._bars.update(self._task, ends_at=time.monotonic() + speed * (total - done) / done)

    def show_work(self, work: Work) -> None:
        """The present stages of the work, its fraction and the time left."""
        left = work.seconds_left
        self._bars.update(
            self._task,
            description=": ".join([self.title, ", ".join(work.stages)]) if work.stages else None,
            completed=work.fraction,
            total=1.0 if work.fraction > 0.0 else None,
            ends_at=None if left is None else time.monotonic() + left,
        )


class _TimeLeft(progress.ProgressColumn):
    """Seconds until the expected end, which go down between two reports of the work."""

    def render(self, task: progress.Task) -> Text:
        ends_at = task.fields.get("ends_at")
        if ends_at is None:
            return Text("")
        left = max(ends_at - time.monotonic(), 0.0)
        return Text(f"about {duration(left)} left", style="progress.remaining")
