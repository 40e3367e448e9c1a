"""Accuracy for one group of angles: noisy inliers, geometric graphs, exact inliers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from benchmarks.inductive.cases import Case
from benchmarks.inductive.checks import Check
from benchmarks.inductive.measure import (
    AUTO,
    NETWORK,
    POLISHED,
    TOLD,
    UNTRAINED,
    Compared,
    by_case,
    measure,
)
from benchmarks.section import Section

SPECTRAL = "spectral_rn"
# From d(1-η)² = 1 on the spectral method is better than chance; cases of less than twice that are
# not compared with it.
_ABOVE_THRESHOLD = 2.0
_MANY_OUTLIERS = 0.6


def noisy(
    cases: Sequence[Case], seeds: Sequence[int], compared: Compared
) -> tuple[Section, list[Check]]:
    """Erdős–Rényi and Barabási–Albert graphs with noisy inliers."""
    methods = (NETWORK, POLISHED, TOLD, AUTO, SPECTRAL)
    rows = measure(cases, seeds, methods, compared, "noisy inliers")
    error, seconds = by_case(rows), by_case(rows, "seconds")
    degree = rows.groupby("case", sort=False)["degree"].mean()
    kept = [
        case
        for case in error.index
        if case.eta >= _MANY_OUTLIERS and degree[case] * (1.0 - case.eta) ** 2 >= _ABOVE_THRESHOLD
    ]
    mean, hard, time = error.mean(), error.loc[kept].mean(), seconds.sum()
    checks = [
        Check(
            "noisy inliers: mean MSE without polish / propagation told η and σ",
            mean[NETWORK] / mean[TOLD],
            1.1,
        ),
        Check(
            "noisy inliers: mean MSE with polish, less 1.25 × that of `auto`",
            mean[POLISHED] - 1.25 * mean[AUTO],
            0.003,
        ),
        Check("noisy inliers: time with polish / time of `auto`", time[POLISHED] / time[AUTO], 0.1),
        Check("noisy inliers: time without polish / `auto`", time[NETWORK] / time[AUTO], 0.1),
        Check(
            f"noisy inliers, η ≥ {_MANY_OUTLIERS:g}: mean MSE without polish / Spectral_RN",
            hard[NETWORK] / hard[SPECTRAL],
            0.2,
        ),
        Check(
            f"noisy inliers, η ≥ {_MANY_OUTLIERS:g}: mean MSE with polish / Spectral_RN",
            hard[POLISHED] / hard[SPECTRAL],
            0.2,
        ),
    ]
    return table("Noisy inliers", rows, methods), checks


def geometric(
    cases: Sequence[Case], seeds: Sequence[int], compared: Compared
) -> tuple[Section, list[Check]]:
    """Random geometric graphs with noisy inliers."""
    methods = (NETWORK, POLISHED, TOLD, UNTRAINED, AUTO)
    rows = measure(cases, seeds, methods, compared, "geometric graphs")
    error = by_case(rows)
    mean, allowed = error.mean(), round(0.2 * len(error))
    checks = [
        Check("geometric graphs: mean MSE with polish / `auto`", mean[POLISHED] / mean[AUTO], 1.5),
        *(
            Check(
                f"geometric graphs: cells of {len(error)} where {name} propagation from the same "
                "start is better than the network without polish",
                float((error[name] < error[NETWORK]).sum()),
                allowed,
            )
            for name in (UNTRAINED, TOLD)
        ),
    ]
    return table("Geometric graphs", rows, methods), checks


def exact(
    cases: Sequence[Case], seeds: Sequence[int], compared: Compared
) -> tuple[Section, list[Check]]:
    """Exact inliers, where the polish has to end at exact angles."""
    methods = (NETWORK, POLISHED, AUTO)
    rows = measure(cases, seeds, methods, compared, "exact inliers")
    error = by_case(rows)
    checks = [
        Check(
            f"exact inliers, {case.name}: MSE with polish, less that of `auto`",
            error.loc[case, POLISHED] - error.loc[case, AUTO],
            0.02,
        )
        for case in error.index
    ]
    return table("Exact inliers", rows, methods), checks


def table(title: str, rows: pd.DataFrame, methods: Sequence[str]) -> Section:
    """MSE and milliseconds of processor time per network, a row per case."""
    error, seconds = by_case(rows), by_case(rows, "seconds")
    lines = [[case.name, *_entries(error.loc[case], seconds.loc[case])] for case in error.index]
    lines.append(["*mean*", *_entries(error.mean(), seconds.mean())])
    names = [name for name in methods if name in error]
    section = Section(title, ("cell", *names), [])
    order = [list(error.columns).index(name) for name in names]
    section.rows = [[line[0], *(line[1 + place] for place in order)] for line in lines]
    return section


def _entries(error: pd.Series, seconds: pd.Series) -> list[str]:
    return [
        "–" if pd.isna(error[name]) else f"{error[name]:.4f}, {1e3 * seconds[name]:.0f} ms"
        for name in error.index
    ]
