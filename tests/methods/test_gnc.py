"""Graduated non-convexity."""

import numpy as np
import pytest

from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.errors import ParameterError
from gnnsync.methods.gnc import GNC, fused_angles
from gnnsync.methods.spectral import SpectralRN
from gnnsync.metrics import angular_mse


def network(eta, sigma=0.0, k=1, n=150, p=0.2, seed=0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    return observe(erdos_renyi(n, p, seed), angles, eta, rng=rng, inlier_noise=sigma)


def test_outliers_are_rejected():
    graph = network(0.5)
    assert angular_mse(SpectralRN()(graph).angles, graph.angles) > 0.05
    assert angular_mse(GNC()(graph).angles, graph.angles) < 0.01


def test_several_frequencies_beat_one():
    graph = network(0.6, n=200)
    start = SpectralRN()(graph).angles[:, 0]
    fused = fused_angles(graph, start, 6, np.random.default_rng(0))
    assert angular_mse(fused, graph.angles) < 0.8 * angular_mse(start, graph.angles)


def test_two_sets():
    graph = network(0.1, 0.05, k=2, p=0.3)
    assert angular_mse(GNC()(graph, 2).angles, graph.angles) < 0.02


@pytest.mark.parametrize(("name", "value"), [("frequencies", 0), ("scale", 0.0), ("decay", 1.0)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=name):
        GNC(**{name: value})
