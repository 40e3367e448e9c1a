"""The profile of a classical method: which functions take its time?

A training has Lightning's profiler (`gnnsync.learn.callbacks.ProfileReport`); other methods have
Python's own.
"""

from __future__ import annotations

import cProfile
import io
import logging
import pstats
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnnsync.io.files import write_text

log = logging.getLogger(__name__)

PROFILE = "profile.txt"
# Functions that are shown; the file has all.
_SHOWN = 15
_PACKAGE = "gnnsync"


@contextmanager
def profiled(directory: Path) -> Iterator[None]:
    """Log the functions of the block that took most time, and write all as `profile.txt`.

    The time of a function includes the functions that it calls.
    """
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        yield
    finally:
        profiler.disable()
    text = io.StringIO()
    stats = pstats.Stats(profiler, stream=text).sort_stats("cumulative")
    stats.print_stats()
    path = directory / PROFILE
    write_text(path, text.getvalue())
    lines = "\n".join(largest(stats))
    log.info("functions that took most time (all of them: %s)\n%s", path, lines)


def largest(stats: pstats.Stats) -> list[str]:
    """A title and one line per function of the package, that with the largest time first."""
    profile = stats.get_stats_profile()
    total = max(profile.total_tt, 1e-12)
    own = [
        (entry.cumtime, entry.tottime, entry.ncalls, name, Path(entry.file_name))
        for name, entry in profile.func_profiles.items()
        if _PACKAGE in Path(entry.file_name).parts
    ]
    lines = [f"{'seconds':>10}  {'own':>8}  {'share':>6}  {'calls':>9}  function"]
    for seconds, alone, calls, name, file in sorted(own, reverse=True)[:_SHOWN]:
        share = f"{100 * seconds / total:.0f} %"
        place = ".".join(file.with_suffix("").parts[file.parts.index(_PACKAGE) + 1 :])
        lines.append(f"{seconds:>10.3f}  {alone:>8.3f}  {share:>6}  {calls:>9}  {place}.{name}")
    return lines
