"""The bound for known patches against the information matrix of normal observations, densely."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync.data.patch_limits import patch_limit
from gnnsync.data.patches import Patches, nearest_neighbour_patches
from gnnsync.errors import GraphError, ParameterError


def dense_limit(patches, sigma, translations):
    """½ tr(C⁻¹ C' C⁻¹ C') + m'ᵀ C⁻¹ m' for every observation, all angles at 0.3."""
    p, n = len(patches), patches.num_points
    z = np.zeros((n, 2))
    z[patches.member] = np.stack([patches.position.real, patches.position.imag], axis=-1)
    c, s = np.cos(0.3), np.sin(0.3)
    turn, slope = np.array([[c, -s], [s, c]]), np.array([[-s, -c], [c, -s]])
    own = np.diag(np.asarray(sigma) ** 2)
    inverse = np.linalg.inv(turn @ own @ turn.T)
    change = slope @ own @ turn.T + turn @ own @ slope.T
    size = p + 2 * n + 2 * p
    information = np.zeros((size, size))
    for i, x in np.ndindex(patches.member.shape):
        k = patches.member[i, x]
        mean = np.zeros((2, size))
        mean[:, i] = slope @ z[k]
        mean[:, p + 2 * k : p + 2 * k + 2] = turn
        if translations:
            mean[:, p + 2 * n + 2 * i : p + 2 * n + 2 * i + 2] = turn
        information += mean.T @ inverse @ mean
        information[i, i] += np.trace(inverse @ change @ inverse @ change) / 2
    used = size if translations else p + 2 * n
    # A tiny precision of everything makes it regular; the motions are taken out below.
    full = np.linalg.inv(information[:used, :used] + 1e-7 * np.eye(used))
    angle = np.eye(p) - 1 / p
    motion = np.zeros((n, 2, 3))
    motion[:, 0, 0] = motion[:, 1, 1] = 1.0
    motion[:, 0, 2], motion[:, 1, 2] = -z[:, 1], z[:, 0]
    motion = np.linalg.qr(motion.reshape(2 * n, 3))[0]
    of_points = full[p : p + 2 * n, p : p + 2 * n]
    left = np.eye(2 * n) - motion @ motion.T
    mse = 2 * np.trace(angle @ full[:p, :p] @ angle) / p
    return mse, np.sqrt(np.trace(left @ of_points @ left) / n)


@pytest.mark.parametrize("translations", [True, False])
@pytest.mark.parametrize("sigma", [(0.3, 0.1), (0.2, 0.2)])
def test_against_the_dense_matrix(translations, sigma):
    points = np.random.default_rng(0).normal(size=(12, 2))
    patches = nearest_neighbour_patches(points, 6)
    found = patch_limit(patches, sigma, translations=translations)
    mse, rmse = dense_limit(patches, sigma, translations)
    assert found.mse == pytest.approx(mse, rel=1e-4)
    assert found.rmse == pytest.approx(rmse, rel=1e-4)


def test_less_noise_known_shifts_and_unequal_noise_lower_it():
    patches = nearest_neighbour_patches(np.random.default_rng(1).normal(size=(60, 2)), 12)
    base = patch_limit(patches, (0.2, 0.2))
    assert patch_limit(patches, (0.1, 0.1)).mse == pytest.approx(base.mse / 4)
    assert patch_limit(patches, (0.2, 0.2), translations=False).mse < base.mse
    assert patch_limit(patches, (0.28, 0.04)).mse < base.mse


def test_what_has_no_bound_is_refused():
    patches = nearest_neighbour_patches(np.random.default_rng(1).normal(size=(20, 2)), 5)
    with pytest.raises(ParameterError, match="deviation"):
        patch_limit(patches, (0.1, 0.0))
    apart = Patches(np.array([[0, 1, 2], [3, 4, 5]]), np.ones((2, 3), complex), 6)
    with pytest.raises(GraphError, match="several parts"):
        patch_limit(apart, (0.1, 0.2))
