"""Is the confidence in a node right? `python -m benchmarks.confidence --help`.

Solves networks of many kinds, compares `Solution.node_confidence` with how often nodes of that
confidence are within the tolerance of the truth, prints the table and draws the reliability curve.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from benchmarks.frontier import GRAPHS, PRIORS
from gnnsync.data import LocalizationDataModule, SyntheticDataModule
from gnnsync.data.points import Letters
from gnnsync.graph import MeasurementGraph
from gnnsync.methods import METHODS, confidence
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE

_DOUBT = confidence.LEAST_DOUBT
LEVELS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97, 0.99, 0.999, 1.0)

# What the weights were fitted on, and what neither they nor the formula were ever shown:
# graphs, n, k, and then p, η, σ, angles and the first network seed.
SETS = {
    "develop": [
        (
            graph,
            220,
            1,
            (0.06, 0.15),
            (0.2, 0.5, 0.7, 0.8),
            (0.0, 0.1, 0.25),
            ("gamma", "uniform"),
            901,
        )
        for graph in ("ero", "rggo", "bao")
    ],
    "held-out": [
        ("ero", 250, 1, (0.08, 0.2), (0.3, 0.6, 0.85), (0.0, 0.05, 0.2), ("normal_iid",), 5001),
        ("bao", 300, 1, (0.1,), (0.4, 0.7), (0.0, 0.15), ("uniform", "normal_rank1"), 6001),
        ("rggo", 300, 1, (0.07, 0.12), (0.3, 0.6), (0.0, 0.2), ("uniform", "gamma"), 7001),
        ("ero", 300, 2, (0.12,), (0.1, 0.4), (0.0, 0.05), ("uniform",), 8001),
    ],
}


def main() -> None:
    options = _options()
    method = METHODS[options.method]()
    rows, scores = [], []

    def remember(*terms: Any) -> NDArray[np.float64]:
        scores.append(terms)
        return calibrated(*terms)

    calibrated = confidence.calibrated
    with mock.patch.object(confidence, "calibrated", remember):
        for name, detail, graph in _networks(options):
            scores.append(None)
            solution = method(graph, graph.angles.shape[1])
            right = aligned_error(solution.angles, graph.angles).max(axis=1) < NODE_TOLERANCE
            rows.append((name, solution.node_confidence, right, scores[-1]))
            if options.verbose:
                stated = solution.node_confidence.mean()
                print(f"{detail}: stated {stated:.3f}, found {right.mean():.3f}", flush=True)
    if options.fit:
        print("WEIGHTS =", np.round(_fit(rows), 2))
    stated, right = (np.concatenate([row[i] for row in rows]) for i in (1, 2))
    kind = np.concatenate([np.full(len(row[1]), row[0], dtype=object) for row in rows])
    _print_table(stated, right)
    for name in dict.fromkeys(kind):
        own = kind == name
        print(f"{name}: stated {stated[own].mean():.3f}, found {right[own].mean():.3f}")
    if options.figure:
        _draw(stated, right, kind, options.figure)


def _fit(rows: list[Any]) -> NDArray[np.float64]:
    """Weights of `calibrated`, by logistic regression over the nodes of noisy networks."""
    columns, found = [], []
    for _, _, right, terms in rows:
        if terms is not None:
            local, mass, evidence = terms
            least = min(evidence, confidence.MOST_EVIDENCE)
            terms = [logit(np.clip(p, _DOUBT, 1 - _DOUBT)) for p in (local, mass)]
            columns.append(np.stack([*terms, np.full(len(right), least), np.ones(len(right))], 1))
            found.append(right.astype(float))
    x, y = np.concatenate(columns), np.concatenate(found)

    def cost(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        score = x @ w
        slope = x.T @ (expit(score) - y) / len(y)
        value = (np.logaddexp(0, score) - y * score).mean()
        return value + 1e-4 * (w @ w), slope + 2e-4 * w

    return minimize(cost, np.zeros(x.shape[1]), jac=True).x


def _networks(options: argparse.Namespace) -> Iterator[tuple[str, str, MeasurementGraph]]:
    """Kind, details and graph of every network."""
    if options.set == "maps":
        for eta, i in product((0.1, 0.2, 0.3), range(options.networks)):
            letters = Letters("PACM", 426, 0)
            data = LocalizationDataModule(letters, PRIORS["uniform"], eta=eta, seeds=[9001 + i])
            yield f"letters η={eta:g}", f"letters η={eta:g}", data.graphs[0]
        return
    for graph, n, k, *grid, first in SETS[options.set]:
        for p, eta, sigma, angles in product(*grid):
            first += 10
            data = SyntheticDataModule(
                GRAPHS[graph],
                PRIORS[angles],
                n=n,
                p=p,
                eta=eta,
                k=k,
                inlier_noise=sigma,
                seeds=[first + i for i in range(options.networks)],
            )
            for network in data.graphs:
                yield f"{graph} k={k}", f"{graph} {k=} {p=} {eta=} {sigma=} {angles}", network


def _bins(stated: Any, right: Any) -> Iterator[tuple[float, float, int, float, float]]:
    """Bounds, number of nodes, mean confidence and share of right ones, bin by bin."""
    place = np.clip(np.searchsorted(LEVELS, stated, side="right") - 1, 0, len(LEVELS) - 2)
    for b in range(len(LEVELS) - 1):
        own = place == b
        if own.any():
            yield LEVELS[b], LEVELS[b + 1], int(own.sum()), stated[own].mean(), right[own].mean()


def _print_table(stated: Any, right: Any) -> None:
    print(f"{len(stated)} nodes, right means within {NODE_TOLERANCE:g} rad")
    print("| stated between | nodes | stated, mean | found right |\n|---|---|---|---|")
    for low, high, count, mean, found in _bins(stated, right):
        print(f"| {low:g} and {high:g} | {count} | {mean:.3f} | {found:.3f} |")
    gap = sum(c * abs(m - f) for _, _, c, m, f in _bins(stated, right)) / len(stated)
    print(f"expected calibration error {gap:.4f}; Brier score {np.mean((stated - right) ** 2):.4f}")


def _draw(stated: Any, right: Any, kind: Any, path: str) -> None:
    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name in dict.fromkeys(kind):
        own = kind == name
        part = [row for row in _bins(stated[own], right[own]) if row[2] >= 30]
        x, y = [row[3] for row in part], [row[4] for row in part]
        axes.plot(x, y, marker="o", markersize=3, linewidth=0.8, alpha=0.7, label=name)
    rows = list(_bins(stated, right))
    found = np.array([row[4] for row in rows])
    error = 2 * np.sqrt(found * (1 - found) / np.array([row[2] for row in rows]))
    x = [row[3] for row in rows]
    axes.errorbar(x, found, error, color="black", marker="s", markersize=4, label="all")
    axes.set_xlabel("node confidence")
    axes.set_ylabel(f"share of nodes within {NODE_TOLERANCE:g} rad of the truth")
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--set", default="held-out", choices=[*SETS, "maps"])
    parser.add_argument("--method", default="auto", help="a method that states node_confidence")
    parser.add_argument("--networks", type=int, default=1, help="networks per combination")
    parser.add_argument("--figure", help="where to draw the reliability curve")
    parser.add_argument("--fit", action="store_true", help="print the weights that fit best")
    parser.add_argument("--verbose", action="store_true", help="tell every combination")
    return parser.parse_args()


if __name__ == "__main__":
    main()
