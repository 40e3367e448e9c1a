"""How the part done and the time left are written."""

from __future__ import annotations

from gnnsync.work import Work


def progress_text(work: Work) -> str:
    """`34 %, about 12 s left`; the part that is not known is left out."""
    left = work.seconds_left
    done = f"{work.fraction:.0%}".replace("%", " %")
    return done if left is None else f"{done}, about {duration(left)} left"


def duration(seconds: float) -> str:
    """`8 s`, `3 min 20 s` or `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
