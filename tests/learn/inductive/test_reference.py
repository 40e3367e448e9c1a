import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph
from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.reference import told_propagation
from gnnsync.methods.robust.unrolled.start import prepare
from tests.learn.inductive.small_stream import noisy_graph


def test_on_a_path_from_an_anchor_the_posterior_is_exact():
    """Node j is j steps of noise away, or anywhere if one of the edges is an outlier."""
    eta, sigma, n = 0.2, 0.5, 4
    graph = MeasurementGraph(np.array([[1, 2, 3], [0, 1, 2]]), np.array([1.0, 2.0, 3.0]), n)
    known = np.full((n, 1), np.nan)
    known[0] = 0.7
    prepared = prepare(graph, 1, rng=np.random.default_rng(0), known=known)
    batch, network = collate([prepared]), UnrolledPropagation(layers=2)
    with torch.no_grad():
        state = told_propagation(network, batch, torch.tensor([eta]), torch.tensor([sigma]), 30)
        mean = network.circle.mean_direction(torch.softmax(state.log_belief, -1))[:, 0].numpy()
    mean = mean * np.exp(1j * prepared.start[:, 0])
    certain = 1.0 - 1.0 / 400  # mean resultant length of a von Mises law of concentration 200
    steps = np.arange(n)
    length = certain * ((1 - eta) * np.exp(-0.5 * sigma**2)) ** steps
    expected = length * np.exp(1j * (0.7 + np.cumsum([0.0, 1.0, 2.0, 3.0])))
    assert np.abs(mean - expected).max() < 2e-3


@pytest.mark.parametrize("k", [1, 2])
def test_true_noise_is_what_em_finds(k):
    graph = noisy_graph(0, n=40, k=k, eta=0.3)
    batch = collate([prepare(graph, k, rng=np.random.default_rng(0))])
    network = UnrolledPropagation()
    with torch.no_grad():
        state = told_propagation(network, batch, torch.tensor([0.3]), torch.tensor([0.2]), 20)
    assert 1.0 - state.share.sum().item() == pytest.approx(0.3, abs=0.05)
    assert state.log_sigma.exp().item() < 0.3  # that of the bins included
    inlier = state.membership.sum(1).numpy()
    true = graph.group >= 0
    assert inlier[true].mean() > 0.9
    assert inlier[~true].mean() < 0.2 * k
