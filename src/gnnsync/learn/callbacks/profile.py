"""Where the time of a training goes: the top of the profiler's table, and a file with all of it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

from gnnsync.io.files import write_text

log = logging.getLogger(__name__)

PROFILE = "profile.txt"
# Parts that are shown; the file has all.
_SHOWN = 10
# Longest lines of a table that is not that of the simple profiler.
_WIDTH = 120


class ProfileReport(Callback):
    """Log the parts of a training that took most time and write the whole table as `profile.txt`.

    For `trainer.profiler=simple` or `advanced`; `debug=profile` sets both. A part includes the
    parts that it calls, so that shares add up to more than 100 %.
    """

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Report when the training has ended."""
        profiler: Any = getattr(trainer, "profiler", None)
        table = profiler.summary() if profiler is not None else ""
        if not table:
            log.warning("no profile: add trainer.profiler=simple")
            return
        path = Path(trainer.default_root_dir) / PROFILE
        write_text(path, table)
        seconds = getattr(profiler, "recorded_durations", None)
        lines = _largest(seconds) if seconds else [line[:_WIDTH] for line in table.splitlines()]
        top = "\n".join(lines[: _SHOWN + 1])
        log.info("parts of the training that took most time (all of them: %s)\n%s", path, top)


def _largest(seconds: dict[str, list[float]]) -> list[str]:
    """A title and one line per part, that with the largest total first."""
    totals = sorted(((sum(times), name) for name, times in seconds.items()), reverse=True)
    whole = max(totals[0][0], 1e-12)
    lines = [f"{'seconds':>10}  {'share':>6}  {'calls':>7}  part"]
    for total, name in totals:
        share = f"{100 * total / whole:.0f} %"
        lines.append(f"{total:>10.3f}  {share:>6}  {len(seconds[name]):>7,}  {name}")
    return lines
