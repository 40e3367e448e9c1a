"""Are the standard deviations right? `python -m benchmarks.deviations --help`.

Solves graphs with noisy inliers and prints the standard deviation of the standardised errors: the
error of an angle divided by `Solution.node_deviation`, over nodes that are right. It should be 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.frontier import GRAPHS, PRIORS
from benchmarks.sparse_networks import sparse_networks
from gnnsync.angles import match_columns
from gnnsync.data import SyntheticDataModule
from gnnsync.graph import MeasurementGraph
from gnnsync.methods import METHODS
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE

DENSITIES, ETAS, NOISE = (0.08, 0.15), {1: (0.0, 0.3, 0.6), 2: (0.1, 0.3)}, (0.05, 0.2)
NODES, FIRST_SEED = 250, 52000


def main() -> None:
    options = _options()
    method = METHODS[options.method]()
    print("| graphs | right | standard deviation of the standardised errors |\n|---|---|---|")
    found: dict[str, list[tuple[float, np.ndarray]]] = {}
    for kind, graph in networks(options.networks):
        assert graph.angles is not None
        solution = method(graph, graph.angles.shape[1])
        assert solution.node_deviation is not None
        order = match_columns(solution.angles, graph.angles)
        error = aligned_error(solution.angles, graph.angles)
        right = error < NODE_TOLERANCE
        stated = solution.node_deviation[:, order]
        known = right & (stated > 0)
        found.setdefault(kind, []).append((right.mean(), (error / stated)[known]))
    for kind, rows in found.items():
        z = np.concatenate([row[1] for row in rows])
        share = np.mean([row[0] for row in rows])
        print(f"| {kind} | {share:.1%} | {np.sqrt(np.mean(z**2)):.2f} |", flush=True)


def networks(count: int) -> Iterator[tuple[str, MeasurementGraph]]:
    """Kind and graph: `count` of each cell, and the sparse ones of `benchmarks.sparse_networks`."""
    for graph, k in product(("ero", "bao", "rggo"), (1, 2)):
        for p, eta, sigma in product(DENSITIES, ETAS[k], NOISE):
            if graph == "rggo" and p < 0.1 and (k > 1 or eta > 0.3):
                continue  # few nodes are recovered
            data = SyntheticDataModule(
                GRAPHS[graph],
                PRIORS["uniform"],
                n=NODES,
                p=p,
                eta=eta,
                k=k,
                inlier_noise=sigma,
                seeds=[FIRST_SEED + i for i in range(count)],
            )
            for network in data.graphs:
                yield f"{graph} k={k} η={eta:g}", network
    for kind, _, network in sparse_networks(1):
        if kind.split(",")[0] != "tree":
            yield kind, network


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--method", default="auto", help="a method that states node_deviation")
    parser.add_argument("--networks", type=int, default=1, help="networks per combination")
    return parser.parse_args()


if __name__ == "__main__":
    main()
