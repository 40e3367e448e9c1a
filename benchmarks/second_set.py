"""How often is a second set of angles hinted at? `python -m benchmarks.second_set --help`.

Solves networks of two sets, and of one with all laws of the inliers' noise, for one set of angles,
and counts how often `find_second_set` finds a second one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.frontier import GRAPHS, PRIORS
from gnnsync.data import SyntheticDataModule
from gnnsync.data.stream.laws import INLIER_LAWS, OUTLIER_LAWS, measured
from gnnsync.graph import MeasurementGraph
from gnnsync.methods import METHODS
from gnnsync.methods.robust.second_set import find_second_set

NODES, DENSITY, FIRST_SEED = (120, 360), 0.15, 61000
TWO_SETS, TWO_NOISE = (0.0, 0.1, 0.2, 0.3), (0.0, 0.05, 0.1)
ONE_SET, ONE_NOISE = (0.0, 0.2, 0.4, 0.6, 0.8), 0.15


def main() -> None:
    options = _options()
    method = METHODS[options.method]()
    fired: dict[str, list[bool]] = {}
    for kind, graph in networks(options.networks):
        solution = method(graph, 1)
        found = find_second_set(solution)
        fired.setdefault(kind, []).append(found is not None)
    print("| networks | number | hinted at |\n|---|---|---|")
    for kind, hits in fired.items():
        print(f"| {kind} | {len(hits)} | {np.mean(hits):.1%} |")


def networks(count: int) -> Iterator[tuple[str, MeasurementGraph]]:
    """Kind and graph, `count` of each combination."""
    seed = FIRST_SEED
    for graph, n in product(("ero", "rggo"), NODES):
        for eta, sigma in product(TWO_SETS, TWO_NOISE):
            seed += count
            for network in _drawn(graph, n, eta, 2, sigma, seed, count):
                yield f"{graph}, two sets", network
        for eta, law in product(ONE_SET, INLIER_LAWS):
            seed += count
            for network in _drawn(graph, n, eta, 1, 0.0, seed, count):
                assert network.angles is not None
                again = measured(
                    np.sort(network.edge_index, axis=0),
                    network.angles,
                    eta,
                    ONE_NOISE,
                    inlier_law=INLIER_LAWS[law],
                    outlier_law=OUTLIER_LAWS["uniform"],
                    rng=np.random.default_rng(seed),
                )
                yield f"{graph}, one set", again


def _drawn(
    graph: str, n: int, eta: float, k: int, sigma: float, seed: int, count: int
) -> list[MeasurementGraph]:
    return list(
        SyntheticDataModule(
            GRAPHS[graph],
            PRIORS["uniform"],
            n=n,
            p=DENSITY,
            eta=eta,
            k=k,
            inlier_noise=sigma,
            seeds=[seed + i for i in range(count)],
        ).graphs
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--method", default="auto", help="the method that solves for one set")
    parser.add_argument("--networks", type=int, default=1, help="networks per combination")
    return parser.parse_args()


if __name__ == "__main__":
    main()
