"""The start of the network from its features: corrected by the head; sets, separated."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from gnnsync.data import SyntheticNetworks
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.priors import GammaAngles, UniformAngles
from gnnsync.errors import ParameterError
from gnnsync.learn import GNNSync
from gnnsync.learn.features import DegreeFeatures
from gnnsync.learn.head import AngleHead, ResidualHead
from gnnsync.learn.separation import separated
from gnnsync.learn.steps import NoSteps, Reweighted
from gnnsync.learn.training.options import Training
from gnnsync.metrics import angular_mse, set_agreement


def started(**changes):
    """The network of `experiment=start/several_sets` with fewer optimizer steps."""
    parts = {
        "correction": 1.0,
        "separation": 300,
        "steps": partial(Reweighted, count=5),
        "optimizer": partial(torch.optim.Adam, lr=0.03),
        "training": Training(max_steps=40, patience=40),
    }
    return GNNSync(**(parts | changes))


def graphs(**changes):
    own = {"angles": UniformAngles(), "n": 100, "p": 0.3, "eta": 0.7, "k": 1, "seeds": [1, 2]}
    return list(SyntheticNetworks(measurement=erdos_renyi, **(own | changes)).graphs)


def mean_mse(angles, networks):
    pairs = zip(angles, networks, strict=True)
    return np.mean([angular_mse(np.asarray(found), graph.angles) for found, graph in pairs])


def test_without_steps_the_untrained_network_returns_its_features():
    networks = graphs()
    found = started(steps=NoSteps, training=Training(max_steps=1)).fit(networks, seeds=[0, 1])
    assert found.untrained is not None
    np.testing.assert_allclose(found.untrained, found.features.double(), atol=1e-6)


def test_training_improves_on_features_and_start_with_uniform_angles():
    networks = graphs()
    found = started().fit(networks, seeds=[0, 1])
    features, untrained = mean_mse(found.features, networks), mean_mse(found.untrained, networks)
    trained = mean_mse([solution.angles for solution in found.solutions], networks)
    assert trained < untrained < features
    assert trained < 0.95 * features


def test_sets_stay_apart():
    networks = graphs(angles=GammaAngles(), n=120, p=0.4, eta=0.1, k=3)
    found = started(training=Training(max_steps=2)).fit(networks, 3, seeds=[0, 1])
    for solution, graph in zip(found.solutions, networks, strict=True):
        assert set_agreement(solution.angles) < set_agreement(graph.angles) + 0.15
    trained = mean_mse([solution.angles for solution in found.solutions], networks)
    assert trained < 0.5 < 1.0 < mean_mse(found.features, networks), "features are not separated"


def test_one_set_and_other_features_are_not_separated():
    networks = graphs()[:1]
    batch = started().prepare(networks, 1)
    assert batch.features is batch.estimate
    batch = started(features=DegreeFeatures(), correction=None).prepare(networks, 2)
    assert batch.features is batch.estimate


def test_separation_turns_with_the_angles():
    networks = graphs(k=2, eta=0.1)[:1]
    batch = started(separation=0).prepare(networks, 2)
    start = batch.features.double()
    batch = started(separation=0, training=Training(precision=64)).prepare(networks, 2)
    once, turned = (separated(start + turn, batch, 20) for turn in (0.0, 1.0))
    np.testing.assert_allclose(np.exp(1j * (turned - once).numpy()), np.exp(1j), atol=1e-6)


def test_the_default_is_the_head_of_the_encoder_and_features_as_they_are():
    networks = graphs(k=2)[:1]
    method = GNNSync()
    batch = method.prepare(networks, 2)
    assert batch.features is batch.estimate
    assert isinstance(method.build(batch).head, AngleHead)
    assert isinstance(started().build(batch).head, ResidualHead)


@pytest.mark.parametrize(("name", "value"), [("correction", 0.0), ("separation", -1)])
def test_bad_values_are_refused(name, value):
    with pytest.raises(ParameterError, match=name):
        GNNSync(**{name: value})


def test_features_that_are_no_angles_cannot_be_corrected():
    with pytest.raises(ParameterError, match="correction = 1"):
        GNNSync(features=DegreeFeatures(), correction=1.0)
