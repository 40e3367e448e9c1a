"""The start of the network from its features: corrected by the head; sets, separated."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gnnsync.data import SyntheticNetworks
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.priors import GammaAngles, UniformAngles
from gnnsync.errors import ParameterError
from gnnsync.learn import GNNSync, gnnsync_paper
from gnnsync.learn.encoders import Connection
from gnnsync.learn.features import DegreeFeatures
from gnnsync.learn.head import AngleHead, PhaseHead, ResidualHead
from gnnsync.learn.separation import separated, separated_once
from gnnsync.learn.steps import NoSteps
from gnnsync.learn.training.options import Training
from gnnsync.metrics import angular_mse, set_agreement


def started(**changes):
    """The default network with fewer optimizer steps."""
    return GNNSync(**({"training": Training(max_steps=40, patience=40)} | changes))


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
    batch = started(features=DegreeFeatures()).prepare(networks, 2)
    assert batch.features is batch.estimate


def test_trials_that_start_alike_are_separated_once_and_others_are_not():
    networks = graphs(k=2, eta=0.1)
    batch = started(separation=0).prepare(networks, 2, seeds=range(4), trials=2)
    start = batch.features
    np.testing.assert_allclose(
        separated_once(start, batch, 5), separated(start, batch, 5), atol=1e-5
    )
    other = start + torch.arange(4.0)[:, None, None]
    np.testing.assert_array_equal(separated_once(other, batch, 5), separated(other, batch, 5))


def test_separation_turns_with_the_angles():
    networks = graphs(k=2, eta=0.1)[:1]
    batch = started(separation=0).prepare(networks, 2)
    start = batch.features.double()
    batch = started(separation=0, training=Training(precision=64)).prepare(networks, 2)
    once, turned = (separated(start + turn, batch, 20) for turn in (0.0, 1.0))
    np.testing.assert_allclose(np.exp(1j * (turned - once).numpy()), np.exp(1j), atol=1e-6)


def test_the_paper_has_the_head_of_the_encoder_and_features_as_they_are():
    networks = graphs(k=2)[:1]
    method = gnnsync_paper()
    batch = method.prepare(networks, 2)
    assert batch.features is batch.estimate
    assert isinstance(method.build(batch).head, AngleHead)
    assert isinstance(started().build(batch).head, ResidualHead)


@pytest.mark.parametrize(("name", "value"), [("correction", 0.0), ("separation", -1)])
def test_bad_values_are_refused(name, value):
    with pytest.raises(ParameterError, match=name):
        GNNSync(**{name: value})


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"features": DegreeFeatures()}, AngleHead),
        ({"encoder": Connection}, PhaseHead),
        ({"correction": None}, AngleHead),
        ({}, ResidualHead),
    ],
)
def test_only_angles_are_corrected_and_only_where_the_encoder_has_no_head_of_its_own(changes, kind):
    assert type(started(**changes).build(graphs()[:1]).head) is kind
