"""Are the confidences of the inductive network right? `python -m benchmarks.inductive_confidence`.

Solves networks of five families with one to three groups and several laws of noise, with and
without polish, and prints the expected calibration error (10 bins) of nodes and edges. With `--fit`
the weights of `gnnsync.learn.inductive.calibration` are fitted first, on graphs of the training law
with a seed of their own, and printed; the table is then that of the new weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from gnnsync.data.stream import Cell, GraphLaw, numbered_graph
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.inductive.calibration import WEIGHTS, regressors
from gnnsync.learn.inductive.method import GNNSyncInductive
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray

# Seed of the stream whose graphs are fitted; trainings have others.
FIT_SEED = 71
BINS = 10
_RIDGE = 1e-4
# Family and mean degree for k = 1; half of it more for every further group.
FAMILIES = {
    "erdos_renyi": 26,
    "barabasi_albert": 22,
    "random_geometric": 34,
    "small_world": 24,
    "map_patches": 26,
}
NOISE = ((0.08, "normal"), (0.25, "normal"), (0.15, "laplace"), (0.0, "exact"))
ETAS = {1: (0.35, 0.6, 0.72), 2: (0.15, 0.35), 3: (0.1,)}


@dataclass(frozen=True, eq=False)
class Row:
    """What was stated of the nodes or the edges of one graph, and what was found."""

    kind: str
    family: str
    k: int
    stated: FloatArray
    right: BoolArray


def main() -> None:
    options = _options()
    weights: dict[str, Any] = dict(WEIGHTS)
    if options.fit:
        law = (numbered_graph(GraphLaw(), FIT_SEED, i) for i in range(options.graphs))
        fitted = _fit([row for graph in law for row in _rows(graph, "", options.weights)])
        for kind in weights:
            weights[kind] = fitted[kind]
            print(f'    "{kind}": ({", ".join(f"{w:.2f}" for w in fitted[kind])}),')
    rows = []
    for cell in cells(options.networks):
        for seed in cell.seeds:
            rows += _rows(cell.draw(seed), cell.family, options.weights)
    _print_table(rows, weights)


def cells(networks: int) -> Iterator[Cell]:
    """The networks of the table."""
    for family, degree in FAMILIES.items():
        for k, etas in ETAS.items():
            for eta in etas:
                for sigma, law in NOISE:
                    name = f"confidence {family} {k} {eta} {sigma} {law}"
                    own = degree * (1 + 0.5 * (k - 1))
                    yield Cell(
                        name, family, 230, own, eta, sigma, k, inliers=law, networks=networks
                    )


def _rows(graph: MeasurementGraph, family: str, weights: str | None) -> Iterator[Row]:
    assert graph.angles is not None
    assert graph.group is not None
    k = graph.angles.shape[1]
    for polish in (False, True):
        method = GNNSyncInductive(weights=weights, polish=polish)
        found, extended = method.uncalibrated(graph, k, np.random.default_rng(0))
        assert found.node_confidence is not None
        assert found.edge_confidence is not None
        right = aligned_error(found.angles, graph.angles).max(axis=1) < NODE_TOLERANCE
        prefix, extent = "polished " if polish else "", ", extended" if extended else ""
        yield Row(f"{prefix}node{extent}", family, k, found.node_confidence, right)
        yield Row(f"{prefix}edge", family, k, found.edge_confidence, graph.group >= 0)


def _fit(rows: list[Row]) -> dict[str, FloatArray]:
    """Weights by logistic regression; every graph counts the same."""
    found = {}
    for kind in sorted({row.kind for row in rows}):
        own = [row for row in rows if row.kind == kind]
        x = np.concatenate([regressors(row.stated, row.k) for row in own])
        y = np.concatenate([row.right for row in own]).astype(np.float64)
        share = np.concatenate([np.full(len(row.right), 1 / len(row.right)) for row in own])
        found[kind] = _logistic(x, y, share / len(own))
    return found


def _logistic(x: FloatArray, y: FloatArray, share: FloatArray) -> FloatArray:
    def cost(w: FloatArray) -> tuple[float, FloatArray]:
        score = x @ w
        value = float(share @ (np.logaddexp(0, score) - y * score))
        slope = x.T @ (share * (expit(score) - y))
        return value + _RIDGE * float(w @ w), slope + 2 * _RIDGE * w

    return np.asarray(minimize(cost, np.zeros(x.shape[1]), jac=True).x)


def _print_table(rows: list[Row], weights: dict[str, Any]) -> None:
    names = ["all", *FAMILIES]
    print("| confidence | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|")
    for kind in ("node", "edge", "polished node", "polished edge"):
        own = [row for row in rows if row.kind.removesuffix(", extended") == kind]
        for title, maps in (("raw", {}), ("calibrated", weights)):
            parts = [_error([r for r in own if name in ("all", r.family)], maps) for name in names]
            print(f"| {kind}, {title} | " + " | ".join(f"{part:.3f}" for part in parts) + " |")


def _error(rows: list[Row], weights: dict[str, Any]) -> float:
    """Expected calibration error: mean of |stated - found| over bins of what is stated."""
    stated = np.concatenate([_stated(row, weights.get(row.kind)) for row in rows])
    right = np.concatenate([row.right for row in rows])
    place = np.minimum((stated * BINS).astype(int), BINS - 1)
    gaps = np.bincount(place, weights=stated - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(stated))


def _stated(row: Row, weights: Any) -> FloatArray:
    if weights is None:
        return row.stated
    return np.asarray(expit(regressors(row.stated, row.k) @ np.asarray(weights)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--fit", action="store_true", help="fit the weights first")
    parser.add_argument("--graphs", type=int, default=400, help="graphs for the fit")
    parser.add_argument("--networks", type=int, default=1, help="networks per combination")
    parser.add_argument("--weights", help="a file of weights; those of the package by default")
    return parser.parse_args()


if __name__ == "__main__":
    main()
