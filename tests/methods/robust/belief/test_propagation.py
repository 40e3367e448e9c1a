"""The posterior by belief propagation, with the noise learned."""

import pytest

from gnnsync.methods import SpectralRN
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.belief.propagation import propagate
from gnnsync.metrics import aligned_error
from tests.methods.networks import synthetic


def test_noise_is_learned():
    graph = synthetic(0.5, 0.25)
    posterior = propagate(graph, SpectralRN()(graph).angles)
    assert 1 - posterior.share.sum() == pytest.approx(0.5, abs=0.05)
    assert posterior.sigma == pytest.approx(0.25, rel=0.2)


def test_posterior_mass_is_calibrated_where_it_is_high():
    graph = synthetic(0.7, 0.1, n=200)
    posterior = propagate(graph, SpectralRN()(graph).angles)
    angles = point_estimates(posterior.marginals, posterior.origin)[0]
    sure = posterior.mass_near(angles, 0.5) > 0.95
    assert sure.mean() > 0.8
    assert (aligned_error(angles, graph.angles)[sure] < 0.5).mean() > 0.93
