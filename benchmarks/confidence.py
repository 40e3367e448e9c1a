"""Is the confidence in a node right? `python -m benchmarks.confidence --help`.

Solves networks of many kinds, compares `Solution.node_confidence` with how often nodes of that
confidence are within the tolerance of the truth, prints the table and draws the reliability curve.
Nodes of a network are right or wrong together, so that the error found has a part that is chance:
`ideal` is the error to expect of confidences without any, on as many networks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import erf, expit

from benchmarks.confidence_networks import SETS, networks
from gnnsync.methods import METHODS
from gnnsync.methods.robust.confidence import error_propagation
from gnnsync.methods.robust.confidence import node_confidence as confidence
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray

_DOUBT = confidence.LEAST_DOUBT
# Random signs from which `_ideal_text` estimates.
_SIGNS = 2000
LEVELS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97, 0.99, 0.999, 1.0)


def main() -> None:
    options = _options()
    method = METHODS[options.method]()
    rows: list[Row] = []
    seen: dict[str, Any] = {}

    def remember(name: str, function: Any) -> Any:
        def call(*given: Any) -> Any:
            result = function(*given)
            seen[name] = given if name == "terms" else result
            return result

        return call

    with (
        mock.patch.object(confidence, "calibrated", remember("terms", confidence.calibrated)),
        mock.patch.object(
            confidence,
            "shared_noise_error",
            remember("shared", error_propagation.shared_noise_error),
        ),
    ):
        for name, detail, graph in networks(options.set, options.networks):
            seen.clear()
            solution = method(graph, graph.angles.shape[1])
            right = aligned_error(solution.angles, graph.angles).max(axis=1) < NODE_TOLERANCE
            assert solution.node_confidence is not None
            rows.append(Row(name, solution.node_confidence, right, **seen))
            if options.verbose:
                stated = np.nanmean(np.append(solution.node_confidence, np.nan))
                print(f"{detail}: stated {stated:.3f}, found {right.mean():.3f}", flush=True)
    if options.fit:
        _print_fit(rows)
    stated, right = (
        np.concatenate([getattr(r, name) for r in rows]) for name in ("stated", "right")
    )
    kind = np.concatenate([np.full(len(row.stated), row.kind, dtype=object) for row in rows])
    network = np.repeat(np.arange(len(rows)), [len(row.stated) for row in rows])
    known = np.isfinite(stated)
    _print_table(stated[known], right[known], network[known])
    for name in dict.fromkeys(kind):
        own = kind == name
        _print_kind(name, stated[own], right[own], network[own])
    if options.figure:
        _draw(stated[known], right[known], kind[known], options.figure)


@dataclass(frozen=True, eq=False)
class Row:
    """One network: what was stated, what was found, and what the regression was given, if it was.

    `shared` is the spread (n,) by shared noise, where there is any.
    """

    kind: str
    stated: FloatArray
    right: BoolArray
    terms: tuple[Any, ...] | None = None
    shared: FloatArray | None = None


def _print_fit(rows: list[Row]) -> None:
    """Weights of `calibrated`, then `SHARED_NOISE_SCALE`."""
    columns: dict[str, list[FloatArray]] = {kind: [] for kind in confidence.WEIGHTS}
    found: dict[str, list[FloatArray]] = {kind: [] for kind in confidence.WEIGHTS}
    for row in rows:
        # Where clusters of a graph were asked for one by one, the last alone is remembered.
        if row.terms is None or row.shared is not None or len(row.terms[0]) != len(row.right):
            continue
        kind, x = confidence.regressors(*row.terms)
        columns[kind].append(x)
        found[kind].append(row.right.astype(float))
        if kind == "posterior":  # what to do without a posterior is learned from the same networks
            columns["local"].append(np.delete(x, 1, axis=1))
            found["local"].append(row.right.astype(float))
    for kind, parts in columns.items():
        if parts:
            weights = _logistic(np.concatenate(parts), np.concatenate(found[kind]))
            print(f"WEIGHTS of {kind}, {len(parts)} networks:", np.round(weights, 2))
    moved = [row for row in rows if row.shared is not None and len(row.shared) == len(row.right)]
    if moved:
        scale = np.linspace(0.5, 2.0, 151)
        best = scale[np.argmax([sum(_log_likelihood(row, s) for row in moved) for s in scale])]
        fitted = error_propagation.SHARED_NOISE_SCALE * best
        print(f"SHARED_NOISE_SCALE, {len(moved)} networks: {fitted:.3f}")


def _logistic(x: FloatArray, y: FloatArray) -> FloatArray:
    def cost(w: FloatArray) -> tuple[float, FloatArray]:
        score = x @ w
        slope = x.T @ (expit(score) - y) / len(y)
        value = (np.logaddexp(0, score) - y * score).mean()
        return value + 1e-4 * (w @ w), slope + 2e-4 * w

    return np.asarray(minimize(cost, np.zeros(x.shape[1]), jac=True).x)


def _log_likelihood(row: Row, scale: float) -> float:
    """Of the right nodes if the shared noise were `scale` times as large."""
    assert row.terms is not None
    assert row.shared is not None
    near = erf(NODE_TOLERANCE / np.sqrt(2) / (scale * row.shared))
    chance = np.clip(confidence.calibrated(*row.terms) * near, _DOUBT, 1 - _DOUBT)
    return float(np.log(np.where(row.right, chance, 1 - chance)).sum())


def _bins(stated: Any, right: Any) -> Iterator[tuple[float, float, int, float, float]]:
    """Bounds, number of nodes, mean confidence and share of right ones, bin by bin."""
    place = np.clip(np.searchsorted(LEVELS, stated, side="right") - 1, 0, len(LEVELS) - 2)
    for b in range(len(LEVELS) - 1):
        own = place == b
        if own.any():
            yield LEVELS[b], LEVELS[b + 1], int(own.sum()), stated[own].mean(), right[own].mean()


def _print_table(stated: Any, right: Any, network: Any) -> None:
    print(f"{len(stated)} nodes, right means within {NODE_TOLERANCE:g} rad")
    print("| stated between | nodes | stated, mean | found right |\n|---|---|---|---|")
    for low, high, count, mean, found in _bins(stated, right):
        print(f"| {low:g} and {high:g} | {count} | {mean:.3f} | {found:.3f} |")
    error, ideal = _calibration_error(stated, right), _ideal_text(stated, right, network)
    brier = np.mean((stated - right) ** 2)
    print(f"expected calibration error {error:.4f}, {ideal}; Brier score {brier:.4f}")


def _print_kind(name: str, stated: Any, right: Any, network: Any) -> None:
    known = np.isfinite(stated)
    unknown = f", unknown {1 - known.mean():.1%}" if not known.all() else ""
    unknown += f"; {len(np.unique(network))} networks"
    if known.any():
        stated, found, network = stated[known], right[known], network[known]
        error = f"ECE {_calibration_error(stated, found):.3f}"
        ideal = _ideal_text(stated, found, network)
        text = f"stated {stated.mean():.3f}, found {found.mean():.3f}, {error}, {ideal}"
    else:
        text = f"nothing stated, found {right.mean():.3f}"
    print(f"{name}: {text}{unknown}")


def _calibration_error(stated: Any, right: Any) -> float:
    """Mean over the nodes of |stated - found|, bin by bin."""
    return sum(c * abs(m - f) for _, _, c, m, f in _bins(stated, right)) / len(stated)


def _ideal_text(stated: Any, right: Any, network: Any) -> str:
    """Mean and 95 % quantile of the calibration error of confidences that are right on average.

    Then a network is as likely to have more right nodes than stated as to have fewer: the errors of
    all its nodes take a random sign together.
    """
    place = np.clip(np.searchsorted(LEVELS, stated, side="right") - 1, 0, len(LEVELS) - 2)
    number = np.unique(network, return_inverse=True)[1]
    error = np.zeros((number.max() + 1, len(LEVELS) - 1))
    np.add.at(error, (number, place), stated - right)
    sign = np.random.default_rng(0).choice((-1.0, 1.0), (_SIGNS, len(error)))
    ideal = np.abs(sign @ error).sum(axis=1) / len(stated)
    return f"ideal {ideal.mean():.3f} (95 % below {np.quantile(ideal, 0.95):.3f})"


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
    parser.add_argument("--set", default="held-out", choices=[*SETS])
    parser.add_argument("--method", default="auto", help="a method that states node_confidence")
    parser.add_argument("--networks", type=int, default=1, help="networks per combination")
    parser.add_argument("--figure", help="where to draw the reliability curve")
    parser.add_argument("--fit", action="store_true", help="print the weights that fit best")
    parser.add_argument("--verbose", action="store_true", help="tell every combination")
    return parser.parse_args()


if __name__ == "__main__":
    main()
