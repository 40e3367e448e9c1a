"""How often are known angles said to contradict the measurements? `python -m benchmarks.anchors`.

Random networks with some known angles: all right, or one of them wrong. Counts the networks with a
warning of an anchor that is right (false alarms) and those in which the wrong one is not named.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.frontier import GRAPHS, PRIORS
from gnnsync.data import SyntheticDataModule
from gnnsync.methods.anchoring.held import AnchorWarning
from gnnsync.solve import solve

NODES, DENSITY, NOISE, FIRST_SEED = 150, 0.15, 0.05, 83000
OUTLIERS, ANCHORS = (0.0, 0.3, 0.6, 0.7), 4
# Error of the wrong anchor in radians.
ERROR = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--method", default="auto", help="the method that solves")
    parser.add_argument("--networks", type=int, default=10, help="networks per cell")
    options = parser.parse_args()
    print("| graph | η | networks | false alarms | wrong anchor missed |\n|---|---|---|---|---|")
    for kind in ("ero", "rggo"):
        for eta in OUTLIERS:
            alarms, missed = _counts(kind, eta, options.method, options.networks)
            share = f"{alarms / options.networks:.0%} | {missed / options.networks:.0%}"
            print(f"| {kind} | {eta:g} | {options.networks} | {share} |", flush=True)


def _counts(kind: str, eta: float, method: str, networks: int) -> tuple[int, int]:
    """Networks with an alarm though all anchors are right, and without one though one is wrong."""
    seeds = [FIRST_SEED + int(100 * eta) * 1000 + i for i in range(networks)]
    data = SyntheticDataModule(
        GRAPHS[kind],
        PRIORS["uniform"],
        n=NODES,
        p=DENSITY,
        eta=eta,
        inlier_noise=NOISE,
        seeds=seeds,
    )
    alarms = missed = 0
    for seed, graph in zip(seeds, data.graphs, strict=True):
        assert graph.angles is not None
        known = np.full(graph.angles.shape, np.nan)
        chosen = np.random.default_rng(seed).choice(graph.num_nodes, ANCHORS, replace=False)
        known[chosen] = graph.angles[chosen]
        measured = graph.replace(angles=None, group=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AnchorWarning)
            right = solve(measured, method, anchors=known)
            known[chosen[0]] += ERROR
            wrong = solve(measured, method, anchors=known)
        alarms += right.diagnostics["anchors_contradicted"] > 0
        missed += wrong.diagnostics["anchors_contradicted"] == 0
    return alarms, missed


if __name__ == "__main__":
    main()
