import copy

import numpy as np
import pytest
import torch

from gnnsync.errors import GraphError
from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.finetune import LOSSES, estimated_angles, finetuned
from gnnsync.learn.inductive.method import GNNSyncInductive
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.methods.robust.unrolled.start import prepare
from gnnsync.metrics import angular_mse
from tests.methods.networks import SHAPES, observed, synthetic


def prepared(graph, k=1):
    return collate([prepare(graph, k, rng=np.random.default_rng(0))])


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_falls_and_the_best_state_is_kept(loss, k):
    graph = synthetic(0.3, 0.1, k=k, n=40, p=0.5)
    batch, network = prepared(graph, k), UnrolledPropagation(layers=3)
    before = copy.deepcopy(network.state_dict())
    tuned, losses = finetuned(network, graph, batch, loss=loss, steps=6, lr=1e-3)
    assert len(losses) == 7
    assert min(losses) < losses[0]
    again = finetuned(tuned, graph, batch, loss=loss, steps=1)[1][0]
    assert again == pytest.approx(min(losses), rel=1e-4)
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())


def test_a_step_that_is_too_large_does_no_harm():
    graph = synthetic(0.3, 0.1, n=40, p=0.5)
    batch, network = prepared(graph), UnrolledPropagation(layers=3)
    tuned, losses = finetuned(network, graph, batch, steps=3, lr=100.0)
    first = estimated_angles(network, batch).detach()
    last = estimated_angles(tuned, batch).detach()
    assert min(losses) <= losses[0]
    if min(losses) == losses[0]:
        torch.testing.assert_close(last, first)


def test_as_a_method():
    graph = synthetic(0.3, 0.1, n=40, p=0.5)
    for polish in (False, True):
        solution = GNNSyncInductive(finetune=True, finetune_steps=3, polish=polish)(graph)
        assert solution.diagnostics["loss"] <= solution.diagnostics["first_loss"]
        assert angular_mse(solution.angles, graph.angles) < 0.05


def test_the_cycle_loss_needs_triangles():
    graph = observed(SHAPES["cycle"], seed=1)
    with pytest.raises(GraphError, match="no triangle"):
        GNNSyncInductive(finetune=True, finetune_loss="cycle")(graph)


def test_the_number_of_threads_changes_nothing():
    """Gradients were divided among the threads of torch."""
    graph = synthetic(0.3, 0.1, n=100, p=0.3)
    batch, network = prepared(graph), UnrolledPropagation(layers=3)
    states = []
    for threads in (1, 4):
        torch.set_num_threads(threads)
        states.append(finetuned(network, graph, batch, steps=2, lr=1e-3)[0].state_dict())
        assert torch.get_num_threads() == threads
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
