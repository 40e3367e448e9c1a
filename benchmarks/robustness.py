"""What is promised of `auto`, measured: `python -m benchmarks.robustness STUDY --help`.

low     at η ≤ 0.2 it is not worse than the best classical method by more than 1e-4
wrong   under wrong noise models it is not worse than IRLS by more than 10 %
limit   with exact inliers it is within 2 × the certifiable limit + 0.01
maps    localization, beside IRLS, the spectral method and one who knows the points
large   n = 100,000, m = 1,000,000: time, memory, error
"""

from __future__ import annotations

import argparse
import resource
import time
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.frontier import CELLS, GRAPHS, PRIORS
from gnnsync.angles import TWO_PI
from gnnsync.data import LocalizationDataModule, SyntheticDataModule
from gnnsync.data.outliers import observe
from gnnsync.data.points import Letters, USCities
from gnnsync.graph import MeasurementGraph
from gnnsync.limits import instance_limit
from gnnsync.methods import METHODS, Auto
from gnnsync.metrics import angular_mse

CLASSICAL = ("spectral", "spectral_rn", "gpm", "irls", "transync", "cemp_gcw", "tas")
MODELS = ("planted", "student", "laplace", "edges", "nodes")


def main() -> None:
    options = _options()
    STUDIES[options.study](options)


def low(options: argparse.Namespace) -> None:
    """Low noise, exact and not."""
    shapes = (("ero", 0.05), ("ero", 0.15), ("rggo", 0.15), ("rggo", 0.06), ("bao", 0.05))
    noises = ((0.0, 0.0), (0.2, 0.0), (0.0, 0.1), (0.0, 0.4), (0.2, 0.1), (0.2, 0.3))
    for (graph, p), (eta, sigma) in product(shapes, noises):
        networks = _synthetic(graph, p, eta, sigma, options)
        error = {name: _error(name, networks) for name in ("auto", *CLASSICAL)}
        best = min(CLASSICAL, key=error.__getitem__)
        worse = error["auto"] - error[best]
        print(
            f"{graph} p={p:g} η={eta:g} σ={sigma:g}: auto {error['auto']:.5f}, "
            f"best {best} {error[best]:.5f}{'  WORSE' if worse > 1e-4 else ''}",
            flush=True,
        )


def wrong(options: argparse.Namespace) -> None:
    """Noise of laws that the model does not hold."""
    shapes = (("ero", 0.15), ("rggo", 0.15), ("ero", 0.05))
    for (graph, p), eta, model in product(shapes, (0.0, 0.3, 0.5), MODELS):
        if model == "planted" and eta < 0.2:
            continue
        seeds = range(options.seed + 1, options.seed + 1 + options.networks)
        networks = [wrong_network(model, graph, p, eta, seed) for seed in seeds]
        networks = [network for network in networks if network.is_connected]
        auto, irls = (_error(name, networks) for name in ("auto", "irls"))
        note = "  WORSE" if auto > 1.1 * irls + 1e-6 else ""
        print(
            f"{graph} p={p:g} η={eta:g} {model}: auto {auto:.5f}, irls {irls:.5f}{note}", flush=True
        )


def wrong_network(model: str, graph: str, p: float, eta: float, seed: int) -> MeasurementGraph:
    """A network of 360 nodes with a share η of outliers and inliers under another law."""
    rng, n = np.random.default_rng(seed), 360
    pairs, prior = GRAPHS[graph](n, p, seed), PRIORS["gamma"]
    exact = observe(pairs, prior(n, 1, rng), 0.0, rng=rng)
    m, u = exact.num_edges, rng.random(exact.num_edges)
    noise: NDArray[np.float64]
    if model == "planted":
        noise = 0.1 * rng.standard_normal(m)
    elif model == "student":
        noise = 0.1 * rng.standard_t(2, m)
    elif model == "laplace":
        noise = 0.2 * rng.laplace(size=m)
    elif model == "edges":
        noise = rng.uniform(0.01, 0.8, m) * rng.standard_normal(m)
    else:
        sigma = rng.gamma(1, 0.25, n)
        noise = np.hypot(sigma[exact.src], sigma[exact.dst]) * rng.standard_normal(m)
    offset = np.where(u < eta, rng.uniform(0, TWO_PI, m), exact.offset + noise)
    if model == "planted":
        rival = prior(n, 1, rng)[:, 0]
        second = rival[exact.src] - rival[exact.dst] + 0.1 * rng.standard_normal(m)
        offset = np.where(u < 0.2, second, offset)
    return exact.replace(offset=offset)


def limit(options: argparse.Namespace) -> None:
    """The cells with exact inliers, each network against its own limit."""
    for graph, k, p, eta, sigma, _ in CELLS:
        if sigma:
            continue
        for network in _synthetic(graph, p, eta, 0.0, options, k):
            error = angular_mse(Auto()(network, k).angles, network.angles)
            bound = 2.0 * instance_limit(network).certifiable + 0.01
            note = "  ABOVE" if error > bound else ""
            print(
                f"{graph} k={k} p={p:g} η={eta:g}: {error:.4f}, bound {bound:.4f}{note}", flush=True
            )


def maps(options: argparse.Namespace) -> None:
    """Patches of maps; `points known` aligns every patch with the true points it holds."""
    clouds = (Letters(), USCities(), USCities(evenness=0.35))
    for cloud, eta in product(clouds, (0.0, 0.1, 0.15, 0.2, 0.25)):
        seeds = [options.seed + 10 * i for i in range(1, options.networks + 1)]
        data = LocalizationDataModule(cloud, PRIORS[options.angles], eta=eta, seeds=seeds)
        names = ("auto", "irls", "spectral_rn")
        found = [f"{name} {_error(name, data.graphs):.4f}" for name in names]
        known = np.mean([_points_known(data, seed) for seed in seeds])
        print(
            f"{cloud.name} η={eta:g}: {', '.join(found)}, points known {known:.4f}",
            flush=True,
        )


def _points_known(data: LocalizationDataModule, seed: int) -> float:
    """MSE of one who knows the true points: Procrustes of each patch with them."""
    _, rotated, angles = data.patches(seed)
    truth = (data.points @ np.array([1, 1j]))[rotated.member]
    truth, seen = (z - z.mean(axis=1, keepdims=True) for z in (truth, rotated.position))
    return angular_mse(np.angle((seen * truth.conj()).sum(axis=1)), angles)


def large(options: argparse.Namespace) -> None:
    """A million measurements."""
    n, m = 100_000, 1_000_000
    rng = np.random.default_rng(options.seed)
    i = rng.integers(n, size=m)
    j = (i + rng.integers(1, n, size=m)) % n
    pairs = np.stack([np.minimum(i, j), np.maximum(i, j)])
    network = observe(pairs, rng.uniform(0, TWO_PI, (n, 1)), 0.5, rng=rng, inlier_noise=0.1)
    main = network.components == np.bincount(network.components).argmax()
    network, _ = network.subgraph(np.flatnonzero(main))
    wall, busy = time.perf_counter(), time.process_time()
    error = angular_mse(Auto()(network).angles, network.angles)
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"n={network.num_nodes} m={network.num_edges}: MSE {error:.4f}, {gib:.1f} GiB, "
        f"{time.perf_counter() - wall:.0f} s, {time.process_time() - busy:.0f} s of processor time"
    )


def _synthetic(
    graph: str, p: float, eta: float, sigma: float, options: argparse.Namespace, k: int = 1
) -> list[MeasurementGraph]:
    seeds = [options.seed + 10 * i for i in range(1, options.networks + 1)]
    data = SyntheticDataModule(
        GRAPHS[graph], PRIORS["gamma"], n=360, p=p, eta=eta, k=k, inlier_noise=sigma, seeds=seeds
    )
    return data.graphs


def _error(name: str, networks: list[MeasurementGraph]) -> float:
    method = METHODS[name]()
    return float(np.mean([angular_mse(method(g).angles, g.angles) for g in networks]))


STUDIES = {"low": low, "wrong": wrong, "limit": limit, "maps": maps, "large": large}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--networks", type=int, default=2, help="networks per cell")
    parser.add_argument("--seed", type=int, default=0, help="network seeds are this + 10, 20, ...")
    parser.add_argument(
        "--angles", default="gamma", choices=sorted(PRIORS), help="law of the angles of `maps`"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
