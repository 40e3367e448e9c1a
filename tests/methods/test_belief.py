"""Belief propagation as a method."""

import pytest

from gnnsync.errors import ParameterError
from gnnsync.methods import SpectralRN
from gnnsync.methods.belief import Belief
from gnnsync.metrics import angular_mse
from tests.methods.networks import synthetic


def test_beats_the_spectral_start():
    graph = synthetic(0.7, n=200)
    spectral = angular_mse(SpectralRN()(graph).angles, graph.angles)
    assert spectral > 0.3
    assert angular_mse(Belief()(graph).angles, graph.angles) < 0.1 * spectral


def test_two_groups():
    graph = synthetic(0.1, 0.05, k=2, p=0.3)
    assert angular_mse(Belief()(graph, 2).angles, graph.angles) < 0.01


@pytest.mark.parametrize(("name", "value"), [("bins", 8), ("sweeps", 0), ("tol", 0.0)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=name):
        Belief(**{name: value})
