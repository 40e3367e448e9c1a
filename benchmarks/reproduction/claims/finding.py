"""A claim of the paper, and what the rows say about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from benchmarks.reproduction.evidence import Evidence, NotRunError

HOLDS, IN_PART, FAILS, NOT_RUN = "holds", "holds in part", "does not hold", "not run yet"
UNTESTED = "not tested"
VERDICTS = (HOLDS, IN_PART, FAILS, UNTESTED, NOT_RUN)
# A statement about most cells: the share of cells from which on it holds, or holds in part.
MOST, SOME = 0.75, 0.25
# Two errors count as equal if they differ by less than this: of the larger, and absolute.
RELATIVE, ABSOLUTE = 0.02, 0.005
USUAL = (
    f"a claim holds if it is true in at least {MOST:.0%} of the cells, in part from {SOME:.0%} on; "
    f"errors that differ by less than {RELATIVE:.0%} + {ABSOLUTE} count as equal"
)


@dataclass(frozen=True)
class Finding:
    """A verdict and the figures behind it."""

    verdict: str
    figures: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper that the rows can test.

    Args:
        name: short name, used as the heading.
        where: section of the paper.
        text: the statement, in our words.
        test: what the rows say; raises `NotRunError` if they are missing.
        criterion: when it holds, if it is no statement about most cells (`USUAL`).
    """

    name: str
    where: str
    text: str
    test: Callable[[Evidence], Finding]
    criterion: str = ""

    def finding(self, evidence: Evidence) -> Finding:
        """What the rows say; `not run yet` if the cells are missing."""
        try:
            return self.test(evidence)
        except NotRunError:
            return Finding(NOT_RUN, "")


def tolerance(error: pd.Series | float) -> pd.Series | float:
    """Differences below this count as none."""
    return ABSOLUTE + RELATIVE * error


def not_worse(one: pd.Series, other: pd.Series) -> pd.Series:
    """Where the first error is below the second, or equal within the tolerance."""
    return one <= other + tolerance(other)


def better(one: pd.Series, other: pd.Series) -> pd.Series:
    """Where the first error is below the second by more than the tolerance."""
    return one < other - tolerance(other)


def verdict_of(share: float) -> str:
    """The verdict on a statement about most cells."""
    return HOLDS if share >= MOST else IN_PART if share >= SOME else FAILS


def share_finding(cells: pd.Series, what: str, more: str = "") -> Finding:
    """Verdict by the share of cells in which something is so, with the counts by noise level."""
    eta = cells.index.to_frame()["eta"]
    split = ", ".join(
        f"{int(own.sum())}/{len(own)} at η = {value:g}"
        for value, own in cells.groupby(eta.to_numpy())
    )
    text = f"{what[:1].upper()}{what[1:]} in {int(cells.sum())} of {len(cells)} cells ({split})."
    return Finding(verdict_of(float(cells.mean())), f"{text} {more}".strip())


def number(value: float) -> str:
    """Three decimals."""
    return f"{value:.3f}"
