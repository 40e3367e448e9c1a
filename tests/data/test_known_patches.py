"""Patches fitted themselves: exact data, another optimiser, invariances, the bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from gnnsync.angles import circular_distance, reduce_angle, resultant
from gnnsync.data.known_patches import fit_patches
from gnnsync.data.patch_limits import patch_limit
from gnnsync.data.patches import Patches, add_noise, nearest_neighbour_patches
from gnnsync.errors import ParameterError
from gnnsync.metrics import angular_mse


def drawn(n, size, eta, seed, box=(2.5, 1.0), error=0.1):
    """Exact patches, the same noisy and rotated, true angles, and initial ones."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2)) * box
    points -= points.mean(axis=0)
    exact = nearest_neighbour_patches(points, size)
    angles = rng.uniform(0, 2 * np.pi, n)
    seen = add_noise(exact, points, eta, rng).rotated(angles)
    return points, exact, seen, angles, angles + error * rng.standard_normal(n)


def mse(estimate, truth):
    return angular_mse(estimate[:, None], truth[:, None])


@pytest.mark.parametrize("noise", ["anisotropic", "isotropic"])
@pytest.mark.parametrize("translations", [True, False])
def test_without_noise_it_is_exact(noise, translations):
    points, _, seen, angles, start = drawn(40, 10, 0.0, 0)
    found = fit_patches(seen, start, noise=noise, translations=translations)
    assert mse(found.angles, angles) < 1e-12
    assert found.points.shape == points.shape
    gaps = [np.hypot(*(p[1:] - p[:-1]).T) for p in (found.points, points)]
    np.testing.assert_allclose(*gaps, rtol=1e-5)


def objective(x, seen, translations, noise):
    """What is minimised, written out."""
    p, n = len(seen), seen.num_points
    z = x[p : p + n] + 1j * x[p + n : p + 2 * n]
    residual = seen.position * np.exp(-1j * x[:p])[:, None] - z[seen.member]
    if translations:
        residual = residual - residual.mean(axis=1, keepdims=True)
    flat = np.stack([residual.real.ravel(), residual.imag.ravel()])
    covariance = flat @ flat.T / flat.shape[1]
    return np.log(np.linalg.det(covariance) if noise == "anisotropic" else np.trace(covariance))


@pytest.mark.parametrize("noise", ["anisotropic", "isotropic"])
@pytest.mark.parametrize("translations", [True, False])
def test_no_other_optimiser_finds_better(noise, translations):
    _, _, seen, _, start = drawn(14, 7, 0.1, 1)
    found = fit_patches(seen, start, noise=noise, translations=translations, tol=1e-8)
    assert found.converged
    x = np.concatenate([found.angles, *found.points.T])
    value = objective(x, seen, translations, noise)
    assert value == pytest.approx(found.objective, abs=1e-9)
    other = minimize(objective, x, (seen, translations, noise), method="BFGS", tol=1e-9)
    assert other.fun >= value - 1e-6
    size = np.linalg.eigvalsh(found.noise)
    assert (size[1] > 1.2 * size[0]) == (noise == "anisotropic")


def test_shifts_of_patches_change_nothing_unless_they_are_known_to_be_0():
    _, _, seen, _, start = drawn(40, 10, 0.1, 2)
    shift = np.random.default_rng(0).normal(size=(40, 2)) @ np.array([1, 1j])
    shifted = Patches(seen.member, seen.position + 3 * shift[:, None], seen.num_points)
    one, two = fit_patches(seen, start, tol=1e-8), fit_patches(shifted, start, tol=1e-8)
    np.testing.assert_allclose(circular_distance(one.angles, two.angles), 0, atol=1e-5)
    two = fit_patches(shifted, start, translations=False)
    assert circular_distance(one.angles, two.angles).max() > 0.01


def test_a_common_rotation_is_left_as_it_is():
    _, _, seen, angles, _ = drawn(60, 20, 0.1, 3)
    one = fit_patches(seen, angles, tol=1e-7)
    two = fit_patches(seen, angles + 1.0, tol=1e-7)
    np.testing.assert_allclose(reduce_angle(two.angles - one.angles), 1.0, atol=1e-5)
    assert resultant(one.angles, angles).imag == pytest.approx(0.0, abs=1e-12)
    assert two.objective == pytest.approx(one.objective, abs=1e-6)


def test_the_bound_is_attained_and_needs_the_direction_of_the_noise():
    error, iso, limit = [], [], []
    for seed in range(4):
        points, exact, seen, angles, start = drawn(120, 30, 0.12, seed, error=0.2)
        error.append(mse(fit_patches(seen, start).angles, angles))
        iso.append(mse(fit_patches(seen, start, noise="isotropic").angles, angles))
        limit.append(patch_limit(exact, 0.12 * points.std(axis=0)).mse)
    # The sampling error of a mean over 480 angles is 6.5 %.
    assert np.mean(error) == pytest.approx(np.mean(limit), rel=0.2)
    assert np.mean(iso) > 1.3 * np.mean(error)


def test_a_patch_that_starts_the_other_way_round_is_turned_back():
    """Noise of very different size along the axes makes a minimum near the opposite angle."""
    _, _, seen, angles, start = drawn(60, 20, 0.25, 3, box=(6.0, 1.0))
    wrong = start.copy()
    wrong[7] += np.pi
    found = fit_patches(seen, wrong)
    assert circular_distance(found.angles, angles)[7] < 0.5
    assert found.converged
    assert found.objective == pytest.approx(fit_patches(seen, start).objective)


def test_options_are_checked():
    _, _, seen, _, start = drawn(14, 7, 0.1, 1)
    with pytest.raises(ParameterError, match="noise"):
        fit_patches(seen, start, noise="none")
    with pytest.raises(ValueError, match="angles"):
        fit_patches(seen, start[:-1])
    assert fit_patches(seen, start, max_iterations=1).iterations == 1
    assert not fit_patches(seen, start, max_iterations=1).converged
