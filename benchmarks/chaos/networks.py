"""Small networks on which the relations are checked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import barabasi_albert, erdos_renyi, random_geometric
from gnnsync.data.outliers import observe

Network = Callable[[int], MeasurementGraph]


def _drawn(
    pairs: np.ndarray,
    eta: float,
    sigma: float,
    seed: int,
    *,
    k: int = 1,
    weighted: bool = False,
    trusted: float = 0.0,
) -> MeasurementGraph:
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (int(pairs.max()) + 1, k))
    graph = observe(pairs, angles, eta, rng=rng, inlier_noise=sigma)
    changes: dict = {}
    if weighted:
        changes["weight"] = rng.uniform(0.2, 5.0, graph.num_edges)
    if trusted:
        changes["trusted"] = (graph.group >= 0) & (rng.random(graph.num_edges) < trusted)
    return graph.replace(**changes)


def _cycle(n: int) -> np.ndarray:
    nodes = np.arange(n)
    return np.stack([nodes, (nodes + 1) % n])


# k = 1: name -> network of a seed.
NETWORKS: dict[str, Network] = {
    "dense, few outliers": lambda s: _drawn(erdos_renyi(60, 0.4, s), 0.2, 0.0, s),
    "noise": lambda s: _drawn(erdos_renyi(50, 0.3, s), 0.0, 0.3, s),
    "noise and outliers": lambda s: _drawn(erdos_renyi(70, 0.25, s), 0.4, 0.1, s, weighted=True),
    "mostly outliers": lambda s: _drawn(erdos_renyi(60, 0.4, s), 0.8, 0.1, s),
    "only outliers": lambda s: _drawn(erdos_renyi(40, 0.3, s), 1.0, 0.0, s),
    "geometric": lambda s: _drawn(random_geometric(90, 0.12, s), 0.3, 0.05, s),
    "hubs": lambda s: _drawn(barabasi_albert(80, 0.08, s), 0.3, 0.05, s, weighted=True),
    "sparse": lambda s: _drawn(barabasi_albert(60, 0.05, s), 0.2, 0.1, s),
    "cycle": lambda s: _drawn(_cycle(40), 0.0, 0.2, s),
    "complete": lambda s: _drawn(np.stack(np.triu_indices(24, 1)), 0.5, 0.1, s),
    "trusted": lambda s: _drawn(erdos_renyi(50, 0.2, s), 0.4, 0.1, s, trusted=0.3),
    "tree": lambda s: _drawn(barabasi_albert(40, 0.001, s), 0.0, 0.0, s),
}

# k = 2.
NETWORKS_K2: dict[str, Network] = {
    "exact": lambda s: _drawn(erdos_renyi(50, 0.5, s), 0.1, 0.0, s, k=2),
    "noise and outliers": lambda s: _drawn(erdos_renyi(60, 0.5, s), 0.2, 0.1, s, k=2),
    "mostly outliers": lambda s: _drawn(erdos_renyi(50, 0.4, s), 0.7, 0.1, s, k=2),
    "geometric": lambda s: _drawn(random_geometric(80, 0.2, s), 0.1, 0.05, s, k=2, weighted=True),
}
