from dataclasses import replace

import numpy as np
import pytest

from gnnsync.localization.fitting.noise import DistanceNoise


def drawn(power, seed=0, size=4000, errors=0.1):
    rng = np.random.default_rng(seed)
    true = rng.uniform(0.5, 2.0, size)
    distance = true + 0.05 * true**power * rng.standard_normal(size)
    outlier = rng.random(size) < errors
    return true, distance + outlier * rng.uniform(1.0, 2.0, size), outlier


def fitted(true, distance, deviation=None):
    law = DistanceNoise.first(true, distance, deviation)
    for _ in range(30):
        law = law.fitted(true, 0)
    return law


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_the_law_is_found(power):
    true, distance, outlier = drawn(power)
    law = fitted(true, distance)
    assert law.power == power
    assert abs(law.sigma / 0.05 - 1.0) < 0.05
    assert abs(law.too_long - 0.1) < 0.02
    assert law.too_short < 0.01
    assert ((law.confidence(true) < 0.5) == outlier).mean() > 0.999


def test_stated_deviations_are_relative():
    true, distance, _ = drawn(1.0)
    law = fitted(true, distance, 0.1 * true)
    assert abs(law.sigma - 0.5) < 0.02


def test_degrees_of_freedom_raise_the_deviation():
    true, distance, _ = drawn(1.0, errors=0.0)
    law = fitted(true, distance)
    wider = law.fitted(true, len(true) // 2)
    assert abs(wider.sigma / law.sigma - np.sqrt(2.0)) < 0.02


def test_slope_and_curvature_are_derivatives():
    true, distance, _ = drawn(1.0, size=50)
    law = fitted(true, distance)
    scale, step = law.scale(true), 1e-6
    up, down = (law.energy(true + s * step, scale) for s in (1.0, -1.0))
    here = law.energy(true, scale)
    np.testing.assert_allclose(
        here.slope, (up.value - down.value) / (2 * step), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(
        here.curvature, (up.slope - down.slope) / (2 * step), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(law.log_likelihood(true), -here.value)


@pytest.mark.parametrize(("draw", "least", "most"), [("uniform", 3.5, 4.0), ("normal", 2.0, 2.2)])
def test_the_shape_is_that_of_the_noise(draw, least, most):
    rng = np.random.default_rng(3)
    error = rng.uniform(-1.7, 1.7, 3000) if draw == "uniform" else rng.standard_normal(3000)
    true = rng.uniform(0.5, 2.0, 3000)
    distance = true * (1.0 + 0.05 * error)
    law = fitted(true, distance).shaped(true, 0)
    assert least <= law.shape <= most


@pytest.mark.parametrize("shape", [2.0, 3.0, 4.0])
def test_densities_of_all_shapes_have_the_stated_deviation(shape):
    residual = np.linspace(-0.5, 0.5, 20001)
    distance = np.ones_like(residual)
    law = DistanceNoise(distance, distance, 0.05, too_short=1e-12, too_long=1e-12, shape=shape)
    density = np.exp(law.log_likelihood(distance + residual)) * (residual[1] - residual[0])
    assert abs(density.sum() - 1.0) < 1e-3
    assert abs(np.sqrt(density @ residual**2) / 0.05 - 1.0) < 1e-2


def test_derivatives_with_a_larger_shape():
    true, distance, _ = drawn(1.0, size=50)
    law = fitted(true, distance)
    law = replace(law, shape=3.5)
    scale, step = law.scale(true), 1e-6
    up, here, down = (law.energy(true + s * step, scale) for s in (1.0, 0.0, -1.0))
    slope, curvature = up.value - down.value, up.slope - down.slope
    np.testing.assert_allclose(here.slope, slope / (2 * step), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(here.curvature, curvature / (2 * step), rtol=1e-4, atol=1e-4)
