"""Work under way: the plan of its stages, the part that is done, the time left, and the time limit.

A solver states the costs of its stages and how far it is; a command that watches shows it. Neither
knows of the other:

    with watched(Work(time_limit=60)) as work:        # the command, or `gnnsync.solve`
        plan({"start": 1.0, "sweeps": 8.0})           # the solver: expected seconds, or any ratios
        with stage("start"):
            ...
        with stage("sweeps"):
            for number in range(20):
                advance(number / 20)
                if time_is_up():
                    break                             # with what there is

The functions act on the work that the caller watches, and do nothing if there is none. It is held
in a `ContextVar`, set by `watched` alone: stages are some ten calls below the command, in functions
that other solvers use too, and none of the functions in between could do anything with a parameter
but pass it on.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

from gnnsync.errors import check_real

log = logging.getLogger(__name__)

# Stages that take longer are reported at level INFO, others at DEBUG: small graphs stay quiet.
LONG_SECONDS = 1.0
# Fraction of the work from which its speed is known well enough to state the time left.
_LEAST_FRACTION = 0.02


class TimeUp(Exception):
    """The time limit is reached where no partial result exists: an outer solver returns its own."""


@dataclass
class _Stage:
    """A stage under way: its cost in the plan around it, and its own plan or fraction done."""

    name: str
    cost: float = 0.0
    planned: dict[str, float] = field(default_factory=dict)
    finished: float = 0.0
    fraction: float = 0.0


class Work:
    """Stages of a computation, how far it is, and when it has to end.

    Args:
        time_limit: seconds after which solvers return the best that they have; None for no limit.
        on_change: called with the work whenever a stage begins, advances or ends.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        on_change: Callable[[Work], None] | None = None,
    ) -> None:
        self.began = time.perf_counter()
        self.on_change = on_change
        self.time_limit: float | None = None
        self.deadline = math.inf
        self.cut_short = False  # whether a solver had to stop before its end
        self._stages = [_Stage("")]
        self._most = 0.0
        if time_limit is not None:
            self.limit(time_limit)

    def limit(self, seconds: float) -> None:
        """Set the time limit, from now on."""
        self.time_limit = check_real("time_limit", seconds, 0, open_low=True)
        self.deadline = time.perf_counter() + self.time_limit

    @property
    def elapsed(self) -> float:
        """Seconds since the work began."""
        return time.perf_counter() - self.began

    def time_is_up(self) -> bool:
        """Whether the time limit is reached; who asks has to stop then, and the result says so."""
        self.cut_short = self.cut_short or time.perf_counter() >= self.deadline
        return self.cut_short

    @property
    def stages(self) -> list[str]:
        """Names of the stages under way, the outermost first."""
        return [stage.name for stage in self._stages[1:]]

    @property
    def fraction(self) -> float:
        """Part of the planned cost that is done, in [0, 1]; it never falls."""
        return self._most

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end, by the speed so far; None while that is not known."""
        fraction, elapsed = self._done(), self.elapsed
        if fraction < _LEAST_FRACTION:
            return None
        left = elapsed * (1.0 - fraction) / fraction
        return max(min(left, self.deadline - time.perf_counter()), 0.0)

    def plan(self, costs: Mapping[str, float]) -> None:
        """Replace what is left of the plan of the present stage; costs in any common unit."""
        self._stages[-1].planned = dict(costs)
        self._changed()

    def skip(self, *names: str) -> None:
        """Take stages out of the plan of the present stage: they turned out not to be needed."""
        for name in names:
            self._stages[-1].planned.pop(name, None)
        self._changed()

    def expect(self, name: str, cost: float) -> None:
        """Change the cost of a stage in the plan of the present one, if it is planned."""
        if name in self._stages[-1].planned:
            self._stages[-1].planned[name] = cost
            self._changed()

    def advance(self, fraction: float) -> None:
        """State which part of the present stage, if it has no plan, is done."""
        present = self._stages[-1]
        present.fraction = max(present.fraction, min(fraction, 1.0))
        self._changed()

    def enter(self, name: str) -> None:
        """Begin a stage of the present one; one that is not planned costs nothing."""
        self._stages.append(_Stage(name, self._stages[-1].planned.pop(name, 0.0)))
        self._changed()

    def leave(self) -> None:
        """End the present stage."""
        ended = self._stages.pop()
        self._stages[-1].finished += ended.cost
        self._changed()

    def _done(self) -> float:
        """Part of the planned cost that is done; it falls where the plan grows."""
        inner, cost = 0.0, 0.0  # of the stage inside
        for stage in reversed(self._stages):
            total = stage.finished + cost + sum(stage.planned.values())
            planned = (stage.finished + cost * inner) / total if total > 0.0 else 0.0
            inner, cost = max(planned, stage.fraction), stage.cost
        return min(inner, 1.0)

    def _changed(self) -> None:
        self._most = max(self._most, self._done())
        if self.on_change is not None:
            self.on_change(self)


# The work that is watched in this context; set by `watched` for the time of a `with` block.
_WATCHED: ContextVar[Work | None] = ContextVar("gnnsync_work", default=None)


@contextlib.contextmanager
def watched(work: Work) -> Iterator[Work]:
    """Let the functions of this module, called within the block, act on `work`."""
    token = _WATCHED.set(work)
    try:
        yield work
    finally:
        _WATCHED.reset(token)


def current() -> Work | None:
    """The work that is watched; None if there is none."""
    return _WATCHED.get()


@contextlib.contextmanager
def limited(time_limit: float | None) -> Iterator[None]:
    """A time limit for the block, of the work that is watched or of its own; None for none."""
    if time_limit is None:
        yield
        return
    work = current()
    if work is None:
        with watched(Work(time_limit)):
            yield
        return
    before = work.time_limit, work.deadline, work.cut_short
    work.limit(time_limit)
    try:
        yield
    finally:
        work.time_limit, work.deadline, work.cut_short = before


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """A stage of the work; its end is logged with the seconds it took."""
    log.debug("%s", name)
    start = time.perf_counter()
    with loop(name):
        yield
    seconds = time.perf_counter() - start
    log.log(logging.INFO if seconds > LONG_SECONDS else logging.DEBUG, "%s: %.2f s", name, seconds)


@contextlib.contextmanager
def loop(name: str) -> Iterator[None]:
    """A stage that is not logged: an iteration that solvers use many times."""
    work = current()
    if work is None:
        yield
        return
    work.enter(name)
    try:
        yield
    finally:
        work.leave()


def plan(costs: Mapping[str, float]) -> None:
    """`Work.plan` of the work that is watched."""
    work = current()
    if work is not None:
        work.plan(costs)


def skip(*names: str) -> None:
    """`Work.skip` of the work that is watched."""
    work = current()
    if work is not None:
        work.skip(*names)


def expect(name: str, cost: float) -> None:
    """`Work.expect` of the work that is watched."""
    work = current()
    if work is not None:
        work.expect(name, cost)


def advance(fraction: float) -> None:
    """`Work.advance` of the work that is watched."""
    work = current()
    if work is not None:
        work.advance(fraction)


def advance_towards(goal: float, first: float, value: float) -> None:
    """Advance an iteration whose `value` falls geometrically from `first` to `goal`."""
    if first > goal > 0.0 and value > 0.0:
        advance(math.log(first / value) / math.log(first / goal))


def time_is_up() -> bool:
    """`Work.time_is_up` of the work that is watched: an iteration that asks has to stop then."""
    work = current()
    return work is not None and work.time_is_up()


def check_time() -> None:
    """Raise `TimeUp` if the time limit is reached."""
    if time_is_up():
        raise TimeUp


def reached_time_limit() -> float | None:
    """The time limit in seconds if it has cut the work short; None otherwise."""
    work = current()
    return work.time_limit if work is not None and work.cut_short else None


def iteration_limit(iterations: int) -> str:
    """Why an iteration stopped that did not converge."""
    return "iteration limit" if reached_time_limit() is None else f"best of {iterations} iterations"
