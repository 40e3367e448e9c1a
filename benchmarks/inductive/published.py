"""The inductive network beside the published model, which is trained on each graph."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.inductive.accuracy import table
from benchmarks.inductive.cases import Case
from benchmarks.inductive.checks import Check
from benchmarks.inductive.measure import (
    CYCLE,
    POLISHED,
    UPSET,
    Compared,
    by_case,
    measure,
)
from benchmarks.section import Section

# Errors below this are exact up to rounding, and no method is better than another there.
_EXACT = 1e-6
# Seconds of one training by the released code (version of January 2024, 1,000 epochs at n = 360,
# p = 0.15) on a machine with two cores. Our own GNNSync, in the table, takes 0.5 to 4 s.
_RELEASED_SECONDS = 36.0


def published(
    cases: Sequence[Case], seeds: Sequence[int], compared: Compared
) -> tuple[Section, list[Check]]:
    """GNNSync with the upset loss, for k > 1 with the cycle loss too; one network per case."""
    title, first = "published model", seeds[:1]
    single = [case for case in cases if case.k == 1]
    several = [case for case in cases if case.k > 1]
    parts = [
        measure(single, first, (POLISHED, UPSET), compared, f"{title}, k = 1"),
        measure(several, first, (POLISHED, UPSET, CYCLE), compared, f"{title}, k > 1"),
    ]
    checks, sections = [], []
    for name, rows in zip(("k = 1", "k > 1"), parts, strict=True):
        error, seconds = by_case(rows), by_case(rows, "seconds")
        trained = error.drop(columns=POLISHED).min(axis=1).clip(lower=_EXACT)
        checks += [
            Check(
                f"published model, {name}: cells of {len(error)} where it has the smaller MSE",
                float((error[POLISHED] > trained).sum()),
                0,
            ),
            Check(
                f"published model, {name}: largest seconds with polish of a cell",
                float(seconds[POLISHED].max()),
                _RELEASED_SECONDS / 4.0,
            ),
        ]
        sections.append(table("The published model", rows, list(error.columns)))
    whole = sections[1]
    whole.rows = [[*row, *["–"] * (4 - len(row))] for row in sections[0].rows] + whole.rows
    return whole, checks
