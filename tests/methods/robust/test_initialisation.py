"""Constant-modulus unmixing."""

import numpy as np
import pytest

from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.methods.robust.initialisation import initial_angles, unmix
from gnnsync.metrics import angular_mse


@pytest.mark.parametrize("k", [2, 3, 5])
def test_unitary_mix_is_undone(k):
    rng = np.random.default_rng(k)
    angles = rng.uniform(0, 2 * np.pi, (400, k))
    mix = rng.standard_normal((k, k)) + 1j * rng.standard_normal((k, k))
    unmixed = unmix(np.exp(1j * angles) @ np.linalg.qr(mix)[0], rng)
    assert angular_mse(np.angle(unmixed), angles) < 0.05


def test_start_is_far_better_than_raw_eigenvectors():
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, (200, 2))
    graph = observe(erdos_renyi(200, 0.3, 1), angles, 0.0, rng=rng)
    assert angular_mse(initial_angles(graph, 2, np.random.default_rng(0)), angles) < 0.2


def test_more_sets_than_nodes():
    graph = observe(np.array([[0], [1]]), np.zeros((2, 1)), 0.0, rng=np.random.default_rng(0))
    assert initial_angles(graph, 3, np.random.default_rng(0)).shape == (2, 3)
