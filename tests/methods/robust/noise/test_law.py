"""Densities and samples of the noise laws."""

import numpy as np
import pytest

from gnnsync.methods.robust.noise.law import LAPLACE, law_density, sample_noise, shrinkage

LAWS = [np.inf, 4.0, 1.0, LAPLACE]


@pytest.mark.parametrize("dof", LAWS)
@pytest.mark.parametrize("sigma", [0.05, 0.5, 1.5])
def test_densities_integrate_to_one_on_the_circle(dof, sigma):
    grid = np.linspace(-np.pi, np.pi, 200_001)
    assert np.trapezoid(law_density(grid, sigma, dof), grid) == pytest.approx(2 * np.pi, rel=1e-4)


@pytest.mark.parametrize("dof", LAWS)
def test_shrinkage_is_the_slope_of_the_log_density(dof):
    """EM weight σ²·(-d log f/dr)/r, as for any scale mixture of normals."""
    residual, sigma, step = np.array([[0.1], [0.3], [0.7]]), 0.2, 1e-6
    up, down = (np.log(law_density(residual + d, sigma, dof)) for d in (step, -step))
    expected = -(sigma**2) * (up - down) / (2 * step) / residual
    np.testing.assert_allclose(shrinkage(residual, np.ones(3), sigma, dof), expected, rtol=1e-3)


@pytest.mark.parametrize(("dof", "median"), [(np.inf, 0.674), (4.0, 0.741), (LAPLACE, np.log(2))])
def test_samples_have_scale_one(dof, median):
    noise = sample_noise(20_000, dof, np.random.default_rng(0))
    assert np.median(np.abs(noise)) == pytest.approx(median, rel=0.03)
