"""Spectral method in turn with the assignment of edges to groups."""

import numpy as np
import pytest

from gnnsync.errors import ParameterError
from gnnsync.methods import SpectralDisentangled, SpectralRN
from gnnsync.metrics import angular_mse
from tests.methods.networks import networks


def test_disentangling_separates_two_groups():
    graphs = networks(k=2)
    plain, iterated = (
        np.mean([angular_mse(method(g, 2).angles, g.angles) for g in graphs])
        for method in (SpectralRN(), SpectralDisentangled())
    )
    assert plain > 1.0
    assert iterated < 0.1


def test_disentangling_assigns_edges_to_their_groups():
    graph = networks(k=2)[0]
    found = SpectralDisentangled()(graph, 2).edge_group
    agreement = np.mean(found == graph.group)
    assert max(agreement, 1 - agreement) > 0.9


@pytest.mark.parametrize(("field", "value"), [("max_iterations", 0)])
def test_parameters_out_of_range(field, value):
    with pytest.raises(ParameterError, match=field):
        SpectralDisentangled(**{field: value})
