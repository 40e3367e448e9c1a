"""Small networks with exact or noisy distances."""

import numpy as np

from gnnsync.data.distance_laws import disc_graph, noisy_distances
from gnnsync.data.shapes import UniformSquare
from gnnsync.distance_network import DistanceNetwork


def disc_network(n=30, degree=10.0, eta=0.0, seed=0, **fields):
    """Points in a square with the distances of near ones."""
    points = UniformSquare(n, seed)()
    pairs, true, _ = disc_graph(points, degree)
    measured, _ = noisy_distances(true, "uniform", eta, np.random.default_rng(seed))
    return DistanceNetwork(pairs, measured, n, points=points, **fields)


def complete_network(n=12, eta=0.0, seed=0, **fields):
    """Points in a square with all distances between them."""
    return disc_network(n, n - 1.0, eta, seed, **fields)
