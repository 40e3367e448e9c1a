"""Small networks of distances with known points."""

import numpy as np

from gnnsync.data.distance_laws import add_gross_errors, disc_graph, noisy_distances
from gnnsync.distance_network import DistanceNetwork


def disc_network(n=60, degree=11.0, eta=0.0, outliers=0.0, seed=0):
    """Points drawn in the unit square, and the distances between near ones."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    pairs, distance, radius = disc_graph(points, degree)
    measured, _ = noisy_distances(distance, "uniform", eta, rng)
    measured, outlier = add_gross_errors(measured, outliers, (0.5, 2.0), radius, rng)
    return DistanceNetwork(pairs, measured, n, points=points, outlier=outlier)


def complete_network(points):
    """All distances between some points."""
    points = np.asarray(points, dtype=float)
    pairs = np.stack(np.triu_indices(len(points), 1))
    distance = np.linalg.norm(points[pairs[0]] - points[pairs[1]], axis=1)
    return DistanceNetwork(pairs, distance, len(points), points=points)


def network_within(points, radius):
    """The distances up to a radius."""
    network = complete_network(points)
    return network.keep_edges(network.distance < radius)


def true_patches(network, count=12, size=12, mirrored=(), noise=0.0, seed=0):
    """Patches of nearest points with true positions, turned at random and some reflected."""
    from gnnsync.localization.base import LocalPatches

    rng = np.random.default_rng(seed)
    points = network.points
    centres = rng.permutation(len(points))[:count]
    members = [np.argsort(np.linalg.norm(points - points[c], axis=1))[:size] for c in centres]
    angles = rng.uniform(-np.pi, np.pi, count)
    places = []
    for a, (own, angle) in enumerate(zip(members, angles, strict=True)):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        place = (points[own] - points[own].mean(axis=0)) @ turn.T
        if a in mirrored:
            place[:, 1] *= -1.0
        places.append(place + noise * rng.standard_normal(place.shape))
    return LocalPatches(
        np.arange(count + 1) * size,
        np.concatenate(members),
        np.concatenate(places),
        np.full(count, noise),
    ), angles
