"""Measurement graphs for the tests of the methods."""

import networkx as nx
import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import barabasi_albert, erdos_renyi, random_geometric
from gnnsync.data.outliers import observe
from gnnsync.data.priors import GammaAngles
from gnnsync.data.synthetic import SyntheticDataModule

SEEDS = (10, 20, 30, 40, 50)


def observed(pairs, *, eta=0.0, k=1, seed=0, inlier_noise=0.0, weighted=False) -> MeasurementGraph:
    """Gamma angles observed on `pairs` (2, m)."""
    rng = np.random.default_rng(seed)
    pairs = np.asarray(pairs, dtype=np.int64)
    angles = GammaAngles()(int(pairs.max()) + 1, k, rng)
    graph = observe(pairs, angles, eta, rng=rng, inlier_noise=inlier_noise)
    return graph.replace(weight=rng.uniform(0.5, 2.0, pairs.shape[1])) if weighted else graph


def pairs_of(graph: nx.Graph) -> np.ndarray:
    return np.array(sorted(tuple(sorted(edge)) for edge in graph.edges())).T


SHAPES = {
    "erdos_renyi": erdos_renyi(120, 0.1, 1),
    "barabasi_albert": barabasi_albert(120, 0.05, 1),
    "random_geometric": random_geometric(120, 0.12, 1),
    "tree": barabasi_albert(120, 0.001, 3),
    "path": pairs_of(nx.path_graph(500)),
    "cycle": pairs_of(nx.cycle_graph(500)),
    "star": pairs_of(nx.star_graph(500)),
    "two_nodes": pairs_of(nx.path_graph(2)),
    "triangle": pairs_of(nx.cycle_graph(3)),
}


def noisy(seed=3, n=80, p=0.3, eta=0.2, weighted=True) -> MeasurementGraph:
    """A connected weighted ER graph on which every method but the trivial one succeeds."""
    return observed(erdos_renyi(n, p, seed), eta=eta, seed=seed, weighted=weighted)


def synthetic(eta, sigma=0.0, k=1, n=150, p=0.2, seed=0, pairs=erdos_renyi) -> MeasurementGraph:
    """Uniform angles observed on a random graph."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    return observe(pairs(n, p, seed), angles, eta, rng=rng, inlier_noise=sigma)


def networks(model=erdos_renyi, *, p=0.15, eta=0.0, k=1, n=360, seeds=SEEDS, **options):
    """The networks of the paper's cells: gamma angles, n = 360."""
    module = SyntheticDataModule(model, GammaAngles(), n, p, eta, k=k, seeds=seeds, **options)
    return module.graphs


__all__ = ["SHAPES", "networks", "noisy", "observed", "pairs_of", "random_geometric", "synthetic"]
