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
