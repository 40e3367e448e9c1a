"""Claims about time and convergence."""

from __future__ import annotations

from benchmarks.reproduction.claims.finding import FAILS, HOLDS, IN_PART, Claim, Finding
from benchmarks.reproduction.evidence import Evidence, NotRunError

_FIVE_MINUTES = 300.0


def quick(evidence: Evidence) -> Finding:
    """Seconds per training."""
    rows = evidence.replicas[evidence.replicas["method"] == "gnnsync"]
    if rows.empty:
        raise NotRunError
    rows = rows.drop_duplicates(["job_hash", "network_seed", "trial"])
    times = rows.groupby("k")["seconds_train"].agg(["median", "max"])
    lines = [
        f"k = {k:g}: {row['median']:.1f} s ({row['max']:.1f} s)" for k, row in times.iterrows()
    ]
    share = float((rows["seconds_train"] < _FIVE_MINUTES).mean())
    verdict = HOLDS if share > 0.95 else IN_PART if share > 0.5 else FAILS
    return Finding(
        verdict,
        f"Median (largest) time per run, ten at once on one core: {', '.join(lines)}.",
    )


def converges(evidence: Evidence) -> Finding:
    """How the trainings ended."""
    rows = evidence.replicas[evidence.replicas["method"] == "gnnsync"]
    if rows.empty:
        raise NotRunError
    rows = rows.drop_duplicates(["job_hash", "network_seed", "trial"])
    counts = rows["status"].value_counts()
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    bad = float(rows["status"].str.contains("diverged").mean())
    verdict = HOLDS if not bad else IN_PART if bad < 0.05 else FAILS
    return Finding(verdict, f"Of {len(rows)} runs: {listed}.")


CLAIMS = (
    Claim(
        "A run takes less than five minutes",
        "App. C.2",
        "A run often takes less than five minutes.",
        quick,
        criterion="more than 95 % of the runs",
    ),
    Claim(
        "Training converges",
        "App. A.1",
        "Training converges although the losses are not differentiable everywhere.",
        converges,
        criterion="no run diverges; in part if fewer than 5 %",
    ),
)
