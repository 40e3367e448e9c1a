import numpy as np
import pytest

from gnnsync.methods.convergence import (
    first_scale,
    is_negligible,
    movement_left,
    typical_residual,
)


def test_movement_left_is_the_sum_of_the_series():
    steps = 0.5 ** np.arange(1, 60)
    assert movement_left(steps[3], steps[2]) == pytest.approx(steps[4:].sum())


def test_no_estimate_without_falling_steps():
    assert movement_left(1.0, 1.0) == np.inf
    assert movement_left(1.0, np.inf) == np.inf
    assert movement_left(0.0, 0.0) == 0.0


def test_slow_convergence_counts_for_more_than_the_last_step():
    assert is_negligible(1e-4, 1e-3, 0.1)
    assert not is_negligible(1e-4, 1.0001e-4, 0.1)


def test_typical_residual():
    assert typical_residual(np.array([-1.0, 3.0, 2.0])) == 2.0
    assert typical_residual(np.empty(0)) == 0.0


def test_the_first_scale_follows_the_inliers_not_the_outliers():
    rng = np.random.default_rng(0)
    residual = np.concatenate([rng.normal(0, 0.05, 300), rng.uniform(-np.pi, np.pi, 700)])
    assert first_scale(residual, 1e-3, 2.0) == pytest.approx(0.15, rel=0.2)
    assert first_scale(np.zeros(10), 1e-3, 2.0) == 1e-3
    assert first_scale(rng.normal(0, 1.5, 1000), 1e-3, 0.5) == 0.5
