"""Single sweeps against an oracle with dense tables in float64, written from the equations."""

import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph
from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.propagation import bounded
from gnnsync.learn.inductive.reference import told_propagation
from gnnsync.methods.robust.unrolled.start import prepare

ETA, SIGMA, DAMPING = 0.3, 0.4, 0.2


def small_graph(seed, k, n=10):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    kept = (rng.random(len(i)) < 0.5) | (j == i + 1)
    pairs = np.stack([i[kept], j[kept]])
    m = pairs.shape[1]
    return MeasurementGraph(
        pairs,
        rng.uniform(0, 2 * np.pi, m),
        n,
        weight=rng.uniform(0.7, 1.5, m),
        trusted=rng.random(m) < 0.2,
    )


def softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def kernel(residual, variance, bins):
    """(B, B) density of the source's bin given the destination's, relative to uniform."""
    grid = 2 * np.pi * np.arange(bins) / bins
    gap = grid[:, None] - grid[None, :] - residual
    turns = 2 * np.pi * np.arange(-3, 4)[:, None, None]
    normal = np.exp(-0.5 * (gap + turns) ** 2 / variance).sum(0)
    return normal * np.sqrt(2 * np.pi / variance)


def dense_sweeps(graph, start, belief, sweeps):
    """Log beliefs (n, k, B) after sweeps; message[i, j] (n, n, k, B) is the one from j to i."""
    n, k, bins = belief.shape
    message = np.zeros((n, n, k, bins))
    share = (1 - ETA) / k
    weight = graph.edge_weight / graph.edge_weight.mean()
    for _ in range(sweeps):
        new = np.zeros_like(message)
        for e, (s, d) in enumerate(graph.edge_index.T):
            at_source = softmax(belief[s] - message[s, d])
            at_target = softmax(belief[d] - message[d, s])
            tables = [
                kernel(graph.offset[e] - start[s, g] + start[d, g], SIGMA**2 / weight[e], bins)
                for g in range(k)
            ]
            fit = [at_source[g] @ tables[g] @ at_target[g] for g in range(k)]
            outlier = ETA * (np.exp(-12.0) if graph.edge_trusted[e] else 1.0)
            for g in range(k):
                others = outlier + share * (sum(fit) - fit[g])
                c = np.clip(others / (others + share), 1e-4, 1 - 1e-6)
                new[s, d, g] = np.log(c + (1 - c) * (tables[g] @ at_target[g]))
                new[d, s, g] = np.log(c + (1 - c) * (tables[g].T @ at_source[g]))
        message = (1 - DAMPING) * new + DAMPING * message
        belief = message.sum(axis=1)
    return belief


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("sweeps", [1, 3])
def test_sweeps_agree_with_a_dense_oracle(k, sweeps):
    graph = small_graph(k, k)
    prepared = prepare(graph, k, rng=np.random.default_rng(0))
    batch, network = collate([prepared]), UnrolledPropagation(layers=2)
    first = network.start(batch).log_belief.detach().double().numpy()
    expected = dense_sweeps(graph, prepared.start, first, sweeps)
    with torch.no_grad():
        found = told_propagation(
            network, batch, torch.tensor([ETA]), torch.tensor([SIGMA]), sweeps
        ).log_belief
    gap = softmax(found.double().numpy()) - softmax(expected)
    assert np.abs(gap).max() < 2e-4


def test_parallel_edges_are_several_messages():
    """An edge that is measured three times says three times as much."""
    graph = MeasurementGraph(np.array([[0, 0, 0], [1, 1, 1]]), np.array([1.0, 1.0, 1.0]), 2)
    network = UnrolledPropagation(layers=2)
    once, thrice = (
        collate([prepare(g, 1, rng=np.random.default_rng(0))])
        for g in (graph.keep_edges(np.array([0])), graph)
    )
    eta, sigma = torch.tensor([ETA]), torch.tensor([SIGMA])
    with torch.no_grad():
        single = told_propagation(network, once, eta, sigma, 1).log_belief
        triple = told_propagation(network, thrice, eta, sigma, 1)
    assert triple.log_message.shape[1] == 3
    # The first beliefs grow with the number of edges that agree, so only the order is the same.
    assert (triple.log_belief.argmax(-1) == single.argmax(-1)).all()
    assert (triple.log_belief.amax(-1) > single.amax(-1)).all()


def test_blocks_without_gradient_are_one_block_with():
    rng = np.random.default_rng(0)
    n, m = 300, 9000
    pairs = rng.integers(0, n, (2, m))
    pairs = pairs[:, pairs[0] != pairs[1]]
    graph = MeasurementGraph(pairs, rng.uniform(0, 6, pairs.shape[1]), n)
    batch = collate([prepare(graph, 1, rng=rng)])
    network = UnrolledPropagation(layers=2)
    whole = network.final(batch)
    with torch.no_grad():
        parts = network.final(batch)
    torch.testing.assert_close(parts.log_belief, whole.log_belief, atol=2e-4, rtol=1e-4)
    torch.testing.assert_close(parts.share, whole.share)


def test_sigma_stays_within_what_the_bins_resolve():
    found = bounded(torch.log(torch.tensor([1e-4, 0.3, 20.0]))).exp()
    torch.testing.assert_close(found, torch.tensor([0.1, 0.3, 1.5]))
