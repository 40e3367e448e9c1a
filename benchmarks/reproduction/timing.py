"""How long jobs take on this machine, from the seconds of kept jobs of the same kind."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from benchmarks.reproduction.store import Store

# Columns that decide how long a job takes, from all of them to the fewest.
_KINDS = (
    ("method", "k", "graph", "p", "loss", "steps", "n"),
    ("method", "k", "graph", "loss"),
    ("method", "k", "loss"),
    ("method", "k"),
    ("method",),
)
# Where nothing like it is kept: seconds of a job of 10 replicas on a 2.5 GHz core.
_UNKNOWN_LEARNED, _UNKNOWN_CLASSICAL = 8.0, 1.0
_REPEATS, _SIZE = 5, 300


def clock() -> float:
    """Seconds of a fixed piece of work, the least of some repeats: how fast this machine is."""
    matrix = np.random.default_rng(0).normal(size=(_SIZE, _SIZE))
    matrix = matrix + matrix.T
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        np.linalg.eigh(matrix)
        times.append(time.perf_counter() - start)
    return min(times)


def seconds(store: Store, jobs: pd.DataFrame, now: float) -> pd.Series:
    """Expected seconds of each job on one core of this machine.

    Args:
        store: kept jobs; the time of a job is scaled by the ratio of the clocks.
        jobs: lines as in `store.jobs`.
        now: `clock()` of this machine.
    """
    learned = jobs["method"].str.startswith("gnnsync")
    found = pd.Series(float("nan"), index=jobs.index)
    if len(store.runs):
        # `k` apart: a job of k = 2 takes several times that of k = 1.
        done = store.jobs.merge(store.runs[["job_hash", "seconds", "clock"]], on="job_hash")
        done = done.assign(scaled=done["seconds"] / done["clock"].astype(float) * now)
        for kind in map(list, _KINDS):
            known = done.groupby(kind, dropna=False)["scaled"].median().reset_index()
            guess = jobs[kind].merge(known, on=kind, how="left")["scaled"].to_numpy()
            found = found.fillna(pd.Series(guess, index=jobs.index))
    unknown = learned.map({True: _UNKNOWN_LEARNED, False: _UNKNOWN_CLASSICAL})
    return found.fillna(unknown * jobs["k"].fillna(1.0))


def in_words(amount: float) -> str:
    """`40 s`, `12 min`, `3 h 20 min`."""
    if amount < 90:
        return f"{amount:.0f} s"
    minutes = round(amount / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
