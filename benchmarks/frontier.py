"""Errors of the robust methods beside the limits: `python -m benchmarks.frontier --help`.

Two references know the truth: `informed` is belief propagation started from the true angles and the
noise that they imply; `posterior` is the mean of the exact posterior (see `benchmarks.posterior`;
k = 1, σ > 0, half a minute each). Where inliers are noisy, no method can be expected to do better.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.posterior import posterior_mean
from gnnsync.data import SyntheticDataModule
from gnnsync.data.measurement import barabasi_albert, erdos_renyi, random_geometric
from gnnsync.data.priors import (
    GammaAngles,
    NormalBlockAngles,
    NormalIIDAngles,
    NormalRankOneAngles,
    UniformAngles,
)
from gnnsync.graph import MeasurementGraph
from gnnsync.methods import METHODS
from gnnsync.methods.robust.belief.propagation import final_angles, propagate
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.metrics import angular_mse

INFORMED, POSTERIOR = "informed", "posterior"
GRAPHS = {"ero": erdos_renyi, "bao": barabasi_albert, "rggo": random_geometric}
PRIORS = {
    "gamma": GammaAngles(),
    "normal_rank1": NormalRankOneAngles(),
    "normal_iid": NormalIIDAngles(),
    "normal_blocks": NormalBlockAngles(),
    "uniform": UniformAngles(),
}
# graph, k, p, η, σ and the mean MSE aimed at.
CELLS = [
    ("ero", 1, 0.05, 0.6, 0.0, 0.03),
    ("ero", 1, 0.05, 0.8, 0.0, 0.9),
    ("ero", 1, 0.15, 0.8, 0.0, 0.005),
    ("ero", 1, 0.15, 0.9, 0.0, 0.25),
    ("bao", 1, 0.15, 0.8, 0.0, 0.05),
    ("rggo", 1, 0.15, 0.8, 0.0, 0.01),
    ("rggo", 1, 0.05, 0.4, 0.0, 0.25),
    ("ero", 1, 0.15, 0.8, 0.1, 0.12),
    ("ero", 1, 0.05, 0.6, 0.1, 0.12),
    ("rggo", 1, 0.15, 0.8, 0.1, 0.05),
    ("ero", 1, 0.15, 0.7, 0.3, 0.065),
    ("ero", 2, 0.15, 0.3, 0.0, 0.01),
    ("ero", 4, 0.15, 0.1, 0.0, 0.15),
    ("rggo", 3, 0.15, 0.2, 0.0, 0.01),
    ("rggo", 3, 0.15, 0.6, 0.0, 0.2),
    ("rggo", 2, 0.05, 0.2, 0.0, 1.0),
]
# Noisy inliers beyond those: sparse geometric graphs, and several sets. No goals.
NOISY = [
    ("rggo", 1, 0.05, 0.2, 0.1, np.nan),
    ("rggo", 1, 0.05, 0.4, 0.02, np.nan),
    ("rggo", 1, 0.05, 0.4, 0.1, np.nan),
    ("rggo", 1, 0.07, 0.5, 0.1, np.nan),
    ("rggo", 1, 0.1, 0.6, 0.1, np.nan),
    ("ero", 2, 0.15, 0.3, 0.3, np.nan),
    ("ero", 3, 0.15, 0.2, 0.1, np.nan),
    ("bao", 2, 0.15, 0.3, 0.1, np.nan),
    ("rggo", 2, 0.15, 0.2, 0.02, np.nan),
    ("rggo", 2, 0.15, 0.4, 0.1, np.nan),
    ("rggo", 2, 0.1, 0.4, 0.1, np.nan),
    ("rggo", 2, 0.05, 0.2, 0.02, np.nan),
    ("rggo", 3, 0.15, 0.2, 0.1, np.nan),
    ("rggo", 3, 0.15, 0.2, 0.3, np.nan),
    ("rggo", 4, 0.15, 0.1, 0.05, np.nan),
]
SETS = {"goals": CELLS, "noisy": NOISY}


def main() -> None:
    options = _options()
    methods = options.methods.split(",")
    print("| cell | goal | " + " | ".join(methods) + " |")
    print("|---" * (len(methods) + 2) + "|")
    for graph, k, p, eta, sigma, goal in SETS[options.set]:
        name = f"{graph} k={k} p={p:g} η={eta:g} σ={sigma:g}"
        if options.cells not in name:
            continue
        data = SyntheticDataModule(
            GRAPHS[graph],
            PRIORS[options.angles],
            n=options.n,
            p=p,
            eta=eta,
            k=k,
            inlier_noise=sigma,
            seeds=[options.seed + 10 * i for i in range(1, options.networks + 1)],
        )
        columns = [_measure(method, data) for method in methods]
        wanted = "–" if np.isnan(goal) else f"≤ {goal:g}"
        print(f"| {name} | {wanted} | " + " | ".join(columns) + " |", flush=True)


def _measure(name: str, data: SyntheticDataModule) -> str:
    solve: Callable[[MeasurementGraph], NDArray[np.float64]]
    if name == INFORMED:
        solve = informed
    elif name == POSTERIOR:
        if data.k > 1 or data.inlier_noise == 0.0:
            return "–"
        solve = partial(posterior_mean, eta=data.eta, sigma=data.inlier_noise)
    else:
        method = METHODS[name]()
        if data.k > 1 and not method.any_k:
            return "–"

        def solve(graph: MeasurementGraph) -> NDArray[np.float64]:
            return method(graph, data.k).angles

    errors = []
    start = time.process_time()
    for graph in data.graphs:
        errors.append(angular_mse(solve(graph), graph.angles))
    seconds = (time.process_time() - start) / len(errors)
    return f"{np.mean(errors):.4f} ± {np.std(errors):.4f} ({seconds:.1f} s)"


def informed(graph: MeasurementGraph) -> NDArray[np.float64]:
    """Angles (n, k) from belief propagation that starts at the truth."""
    fit = fit_mixture(graph, graph.angles, move=False)
    return final_angles(graph, fit, propagate(graph, graph.angles, like=fit))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--methods",
        default="auto,irls,spectral_rn",
        help=f"with commas; also {INFORMED}, {POSTERIOR}",
    )
    parser.add_argument("--set", default="goals", choices=sorted(SETS), help="which cells")
    parser.add_argument("--cells", default="", help="only cells whose name contains this")
    parser.add_argument("--angles", default="gamma", choices=sorted(PRIORS))
    parser.add_argument("--networks", type=int, default=5, help="networks per cell")
    parser.add_argument("--seed", type=int, default=0, help="network seeds are this + 10, 20, ...")
    parser.add_argument("--n", type=int, default=360, help="nodes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
