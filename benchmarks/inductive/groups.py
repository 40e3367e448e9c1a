"""Several groups of angles: errors, and whether the groups stay apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.inductive.accuracy import table
from benchmarks.inductive.cases import Case
from benchmarks.inductive.checks import Check
from benchmarks.inductive.measure import AUTO, NETWORK, POLISHED, Compared, by_case, measure
from benchmarks.section import Section

# An agreement of two groups that exceeds that of the true groups by this much is a collapse.
_ALLOWED_AGREEMENT = 0.05


def groups(
    cases: Sequence[Case], seeds: Sequence[int], compared: Compared
) -> tuple[Section, list[Check]]:
    """k = 2, 3, 4 without the help of `auto`."""
    methods = (NETWORK, POLISHED, AUTO)
    rows = measure(cases, seeds, methods, compared, "several groups")
    error = by_case(rows)
    checks = [
        Check(f"k groups: largest mean MSE of a cell, {name}", error[name].max(), 0.1)
        for name in (NETWORK, POLISHED)
    ]
    checks += [
        Check(
            f"k groups: agreement of two groups, most above that of the true ones, {name}",
            _excess(rows[rows["method"] == name], seeds),
            _ALLOWED_AGREEMENT,
        )
        for name in (NETWORK, POLISHED)
    ]
    return table("Several groups", rows, methods), checks


def agreement(angles: NDArray[np.float64]) -> float:
    """Largest |mean e^{i(r_a - r_b)}| over pairs of groups of angles (n, k): 1 if two are equal."""
    pairs = combinations(range(angles.shape[1]), 2)
    return max(abs(np.exp(1j * (angles[:, a] - angles[:, b])).mean()) for a, b in pairs)


def _excess(rows: pd.DataFrame, seeds: Sequence[int]) -> float:
    truth = {
        (case, seed): agreement(graph.angles)
        for case in rows["case"].unique()
        for seed, graph in zip(seeds, case.draw(seeds), strict=True)
    }
    return max(
        agreement(angles) - truth[case, seed]
        for case, seed, angles in zip(rows["case"], rows["seed"], rows["angles"], strict=True)
    )
