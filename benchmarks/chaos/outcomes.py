"""What reading a damaged file comes to, within bounds of time and memory."""

from __future__ import annotations

import resource
import signal
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.chaos.readers import Reader
from gnnsync.errors import GnnsyncError

MOST_SECONDS = 5  # of the processor, for one file
MOST_WAITING = 120.0  # seconds by the clock: the machine may be busy
MOST_MEMORY = 1 << 30  # bytes more than before
MOST_CHARACTERS = 1000  # of an error message
FINE = ("read", "refused")


@dataclass
class Tally:
    """Outcomes by reader, and the cases that were not fine: (number, reader, outcome)."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, number: int, reader: str, outcome: str) -> None:
        self.outcomes.setdefault(reader, Counter())[outcome] += 1
        if outcome not in FINE:
            self.failures.append((number, reader, outcome))
            print(f"{reader}, case {number}: {outcome}", file=sys.stderr, flush=True)


def outcome_of(reader: Reader, path: Path) -> str:
    """What reading the file comes to: `read`, `refused`, or what went wrong.

    A process that takes more than `MOST_SECONDS` ends.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    before = used.ru_maxrss
    most = int(used.ru_utime + used.ru_stime) + 1 + MOST_SECONDS
    limits = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (most, limits[1]))
    try:
        reader.use(path)
        found = "read"
    except GnnsyncError as error:
        text = str(error)
        short = len(text) <= MOST_CHARACTERS and len(text.splitlines()) == 1
        found = "refused" if short else f"a message of {len(text)} characters: {text[:80]!r}"
    except Exception as error:
        found = f"{type(error).__name__}: {str(error)[:120]!r}"
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, limits)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return found if grown * 1024 <= MOST_MEMORY else f"{grown >> 10} MB of memory"


def bound_process() -> None:
    """Bound the memory of this process, and hide warnings."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (4 * MOST_MEMORY, 4 * MOST_MEMORY))


def ending(code: int) -> str:
    """What the exit code of a child that ended within a case comes to; minus a signal's number."""
    if code < 0:
        late = -code in (signal.SIGXCPU, signal.SIGKILL)
        return f"hang of {MOST_SECONDS} s" if late else f"crash by {signal.Signals(-code).name}"
    return f"ended with {code}"
