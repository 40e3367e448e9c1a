"""Graduated non-convexity."""

import numpy as np
import pytest

from gnnsync.errors import ParameterError
from gnnsync.methods.gnc import GNC, fused_angles
from gnnsync.methods.spectral import SpectralRN
from gnnsync.metrics import angular_mse
from tests.methods.networks import synthetic


def test_outliers_are_rejected():
    graph = synthetic(0.5)
    assert angular_mse(SpectralRN()(graph).angles, graph.angles) > 0.05
    assert angular_mse(GNC()(graph).angles, graph.angles) < 0.01


def test_several_frequencies_beat_one():
    graph = synthetic(0.6, n=200)
    start = SpectralRN()(graph).angles[:, 0]
    fused = fused_angles(graph, start, 6, np.random.default_rng(0))
    assert angular_mse(fused, graph.angles) < 0.8 * angular_mse(start, graph.angles)


def test_two_groups():
    graph = synthetic(0.1, 0.05, k=2, p=0.3)
    assert angular_mse(GNC()(graph, 2).angles, graph.angles) < 0.02


@pytest.mark.parametrize(("name", "value"), [("frequencies", 0), ("scale", 0.0), ("decay", 1.0)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=name):
        GNC(**{name: value})
