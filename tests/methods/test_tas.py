"""Trimmed averaging of neighbour predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import trim_mean

from gnnsync.errors import ParameterError
from gnnsync.methods import TAS
from gnnsync.methods.tas import trimmed_means
from tests.methods.networks import SHAPES, noisy, observed


@given(st.integers(1, 12), st.sampled_from([0.0, 0.1, 0.25, 0.4]), st.integers(0, 10_000))
def test_trimmed_mean_of_whole_shares_is_the_usual_one(size, trim, seed):
    """Where trim · size is whole, interval by weight and count by value are the same."""
    size = size * 20
    value = np.random.default_rng(seed).uniform(-np.pi, np.pi, size)
    found = trimmed_means(np.zeros(size, dtype=int), value, np.ones(size), trim, 2)
    np.testing.assert_allclose(found, [trim_mean(value, trim), 0.0], atol=1e-12)


def test_trimmed_mean_of_one_value_is_that_value():
    found = trimmed_means(np.array([1]), np.array([0.7]), np.array([3.0]), 0.4, 2)
    np.testing.assert_allclose(found, [0.0, 0.7])


def test_tas_trimming_drops_outliers():
    graph = noisy(eta=0.3, n=60, p=0.4)

    def error(solution):
        return np.abs(graph.residual(solution.angles[:, 0]))[graph.group == 0].mean()

    assert error(TAS()(graph)) < 0.01 * error(TAS(trim=0.0)(graph))


def test_tas_start_matters_where_averages_travel_slowly():
    graph = observed(SHAPES["path"])
    assert TAS()(graph).iterations == 1
    from_zero = TAS(start="zero")(graph)
    assert not from_zero.converged
    assert np.abs(graph.residual(from_zero.angles[:, 0])).max() > 0.1


@pytest.mark.parametrize(("field", "value"), [("trim", 0.5), ("start", "warm")])
def test_parameters_out_of_range(field, value):
    with pytest.raises(ParameterError, match=field):
        TAS(**{field: value})
