from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.training.loss import InductiveLoss, graph_mse
from gnnsync.methods.robust.unrolled.start import prepare
from gnnsync.metrics import angular_mse
from tests.learn.inductive.small_stream import NETWORK, batch_of, noisy_graph


def network():
    torch.manual_seed(0)
    made = NETWORK()
    for parameter in made.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return made


def directions_of(batch, angles):
    """The estimate `angles` as directions relative to the initial angles."""
    return torch.polar(torch.ones_like(angles), angles - batch.start.to(angles.dtype))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_mse_is_that_of_the_metrics(k):
    graphs = [noisy_graph(number, k=k) for number in range(3)]
    batch = collate([prepare(g, k, rng=np.random.default_rng(0)) for g in graphs])
    angles = torch.rand(batch.num_nodes, k) * 2 * math.pi
    found = graph_mse(directions_of(batch, angles), batch)[0]
    for number, graph in enumerate(graphs):
        own = angles[batch.node_graph == number].double().numpy()
        assert found[number] == pytest.approx(angular_mse(own, graph.angles), abs=1e-5)


def test_the_truth_in_any_rotation_and_order_has_no_error():
    batch = batch_of(range(3), k=3)
    for order in itertools.permutations(range(3)):
        turned = batch.truth[:, list(order)] + torch.tensor([0.3, 2.0, -1.0])
        mse, matching, _ = graph_mse(directions_of(batch, turned), batch)
        assert mse.abs().max() < 1e-5
        assert matching.tolist() == [list(order)] * 3


def test_a_graph_has_the_same_terms_alone_and_in_a_batch():
    net, loss = network(), InductiveLoss()
    whole = batch_of(range(3), k=2)
    with torch.no_grad():
        together = loss(net(whole), whole, net)
    for number in range(3):
        batch = batch_of(range(number, number + 1), k=2)
        with torch.no_grad():
            alone = loss(net(batch), batch, net)
        for name, value in alone.items():
            assert float(together[name][number]) == pytest.approx(float(value[0]), abs=1e-3)


def test_the_parts_add_up():
    net, batch = network(), batch_of(range(2))
    terms = InductiveLoss(nll=0.3, bce=0.7)(net(batch), batch, net)
    total = terms["log_mse"] + 0.3 * terms["nll"] + 0.7 * terms["bce"]
    assert torch.allclose(terms["loss"], total)


@pytest.mark.parametrize("first", [0.0, 0.1])
def test_later_layers_weigh_more_and_one_layer_weighs_all(first):
    loss = InductiveLoss(first=first)
    weights = loss.layer_weights(6)
    assert float(weights.sum()) == pytest.approx(1.0)
    assert weights.tolist() == sorted(weights.tolist())
    assert loss.layer_weights(1).tolist() == [1.0]


def test_likelihood_and_entropy_reward_the_truth():
    """Certain and right is better than uniform; certain and wrong is worse."""
    net, batch = network(), batch_of(range(2))
    state = net(batch)[-1]
    inlier = (batch.group >= 0).float()[:, None]
    loss = InductiveLoss()
    grid = net.circle.grid

    def terms(shift, probability):
        centre = batch.truth - batch.start.float() + shift
        state.log_belief = 20 * (torch.cos(grid - centre[..., None]) - 1)
        state.membership = probability
        return loss([state], batch, net)

    half = torch.full_like(inlier, 0.5)
    right = terms(torch.zeros(batch.num_nodes, 1), inlier)
    spread = torch.linspace(-2, 2, batch.num_nodes)[:, None]
    wrong = terms(spread, 1 - inlier)
    unsure = terms(spread, half)
    assert (right["nll"] < 0).all()
    assert (right["nll"] < wrong["nll"]).all()
    assert (right["bce"] < unsure["bce"]).all()
    assert (unsure["bce"] < wrong["bce"]).all()
