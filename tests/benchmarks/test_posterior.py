"""The sampled posterior that the benchmarks compare with."""

import numpy as np

from benchmarks.posterior import posterior_mean
from gnnsync.data.measurement import erdos_renyi
from gnnsync.methods.auto import Auto
from gnnsync.metrics import angular_mse
from tests.methods.networks import observed


def test_auto_has_the_error_of_the_exact_posterior_mean():
    """On few networks a few nodes are decided by chance: within a quarter."""
    graphs = [
        observed(erdos_renyi(100, 0.2, seed), eta=0.4, inlier_noise=0.3, seed=seed)
        for seed in range(4)
    ]
    best = np.mean(
        [angular_mse(posterior_mean(g, 0.4, 0.3, sweeps=150, burn_in=20), g.angles) for g in graphs]
    )
    mine = np.mean([angular_mse(Auto()(g).angles, g.angles) for g in graphs])
    assert best < 1.25 * mine
    assert mine < 1.25 * best


def test_same_seed_same_sample():
    graph = observed(erdos_renyi(20, 0.5, 1), eta=0.2, inlier_noise=0.2)
    one, two, other = (
        posterior_mean(graph, 0.2, 0.2, sweeps=5, burn_in=1, seed=s) for s in (1, 1, 2)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
