import time

import numpy as np
import pytest

from benchmarks.chaos.relations import relabelled, reversed_edges
from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.methods import METHODS
from gnnsync.methods.robust.noise.mixture import relative_weight
from gnnsync.methods.robust.sparse.gibbs import PRIOR, SCALES
from gnnsync.methods.robust.sparse.single_cycle import (
    LONGEST_CYCLE,
    MOST_NODES,
    solve_single_cycles,
    with_single_cycle,
)
from gnnsync.solution import NODE_TOLERANCE

pytestmark = pytest.mark.filterwarnings("ignore::gnnsync.methods.DisconnectedGraphWarning")


def ring(length, closure, **fields):
    """A cycle 0, 1, ... whose measurements add up to `closure`."""
    offset = np.linspace(0.1, 0.9, length)
    offset[-1] = closure - offset[:-1].sum()
    nodes = np.arange(length)
    index = np.stack([nodes, (nodes + 1) % length])
    return MeasurementGraph(index, offset, length, **fields)


def rings(count, length, seed=0, noise=0.1):
    """Many noisy cycles of one length in one graph, a tenth of the measurements wrong."""
    rng = np.random.default_rng(seed)
    src = np.arange(count * length).reshape(count, length)
    dst = np.roll(src, -1, axis=1)
    theta = rng.uniform(0, 6.28, count * length)
    offset = theta[src.ravel()] - theta[dst.ravel()] + noise * rng.standard_normal(src.size)
    wrong = rng.random(src.size) < 0.1
    offset[wrong] = rng.uniform(0, 6.28, wrong.sum())
    return MeasurementGraph(np.stack([src.ravel(), dst.ravel()]), offset, count * length)


def solved(graph):
    return solve_single_cycles(graph, np.ones(graph.num_components, dtype=bool))


def sampled(graph, angles, samples=60_000):
    """Probability and deviation of right nodes and inliers: samples of the prior, weighted."""
    rng, length = np.random.default_rng(0), graph.num_edges
    eta, sigma = rng.beta(*PRIOR, samples), rng.choice(SCALES, samples)
    variance = 1.0 / relative_weight(graph)
    inlier = (rng.random((samples, length)) > eta[:, None]) | graph.edge_trusted
    closed = inlier.all(axis=1)
    wide = sigma * np.sqrt(variance.sum())
    turns = wrap(graph.offset.sum()) + 2 * np.pi * np.arange(-3, 4)[:, None]
    density = np.sqrt(2 * np.pi) * (np.exp(-0.5 * (turns / wide) ** 2) / wide).sum(axis=0)
    weight = np.where(closed, density, 1.0)
    noise = rng.standard_normal(inlier.shape) * sigma[:, None] * np.sqrt(variance)
    step = np.where(inlier, graph.offset - noise, rng.uniform(0, 6.28, inlier.shape))
    # The steps of a cycle add up to 0: all give way, or else its first outlier.
    gap = step.sum(axis=1)
    whole = step - wrap(gap)[:, None] * variance / variance.sum()
    step[np.arange(samples), (~inlier).argmax(axis=1)] -= gap
    step = np.where(closed[:, None], whole, step)
    true = -np.cumsum(np.append(np.zeros((samples, 1)), step[:, :-1], axis=1), axis=1)
    error = angles - true
    error = wrap(error - np.angle(np.exp(1j * error).mean(axis=1))[:, None])
    right, weight = np.abs(error) < NODE_TOLERANCE, weight / weight.sum()
    square = weight @ (right * error**2)
    return weight @ right, np.sqrt(square / (weight @ right)), weight @ inlier


@pytest.mark.parametrize("length", [2, 3, 5])
@pytest.mark.parametrize("closure", [1e-3, 0.1, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["plain", "weights", "trusted"])
def test_probabilities_are_those_of_samples_of_the_model(length, closure, kind):
    fields = {
        "plain": {},
        "weights": {"weight": np.arange(1.0, length + 1) ** 2},
        "trusted": {"trusted": np.arange(length) < length - 2},
    }[kind]
    graph = ring(length, closure, **fields)
    found = solved(graph)
    right, deviation, inlier = sampled(graph, found.angles)
    np.testing.assert_allclose(found.edge_confidence, inlier, atol=0.01)
    known = np.isfinite(found.node_confidence)
    # More than two outliers count as two, and means are not circular: where little is certain.
    loose = 0.03 if right.min() > 0.6 else 0.12
    np.testing.assert_allclose(found.node_confidence[known], right[known], atol=loose)
    if right.min() > 0.6:
        np.testing.assert_allclose(found.node_deviation[known], deviation[known], rtol=0.05)


def test_a_closure_error_is_divided_by_variance_where_all_are_inliers():
    weight = np.array([1.0, 2.0, 4.0])
    graph = ring(3, 1e-4, weight=weight)
    residual = graph.residual(solved(graph).angles[:, None])[:, 0]
    np.testing.assert_allclose(-residual / 1e-4, (1 / weight) / (1 / weight).sum(), atol=2e-3)


def test_together_as_alone():
    graphs = [ring(3, 0.3), ring(2, 1.0), ring(5, -0.2, weight=np.arange(1.0, 6)), ring(12, 0.1)]
    branch = np.array([[0, 1, 2, 2], [1, 2, 0, 3]])
    graphs.append(MeasurementGraph(branch, [0.5, 1.0, -1.2, 2.0], 4))
    index, offset, weight, n = [], [], [], 0
    for graph in graphs:
        index.append(graph.edge_index + n)
        offset.append(graph.offset)
        weight.append(graph.edge_weight)
        n += graph.num_nodes
    union = MeasurementGraph(
        np.concatenate(index, axis=1), np.concatenate(offset), n, weight=np.concatenate(weight)
    )
    whole, start, edges = METHODS["auto"]()(union), 0, 0
    for graph in graphs:
        alone = METHODS["auto"]()(graph)
        assert alone.stop_reason.startswith("one cycle")
        own = slice(start, start + graph.num_nodes)
        gap = wrap(whole.angles[own] - alone.angles)
        np.testing.assert_allclose(wrap(gap - gap[0]), 0, atol=1e-9)
        np.testing.assert_allclose(whole.node_confidence[own], alone.node_confidence, atol=1e-9)
        np.testing.assert_allclose(whole.node_deviation[own], alone.node_deviation, atol=1e-9)
        mine = slice(edges, edges + graph.num_edges)
        np.testing.assert_allclose(whole.edge_confidence[mine], alone.edge_confidence, atol=1e-9)
        start, edges = start + graph.num_nodes, edges + graph.num_edges


@pytest.mark.parametrize("relation", [relabelled, reversed_edges])
def test_numbers_and_directions_mean_nothing(relation):
    graph = rings(20, 4).replace(weight=np.random.default_rng(1).uniform(0.5, 2, 80))
    changed = relation(graph, np.random.default_rng(2))
    one, other = solved(graph), solved(changed.graph)
    np.testing.assert_allclose(other.node_confidence[changed.node], one.node_confidence, atol=1e-9)
    np.testing.assert_allclose(other.edge_confidence, one.edge_confidence, atol=1e-9)
    residual = [g.residual(s.angles[:, None]) for g, s in ((graph, one), (changed.graph, other))]
    np.testing.assert_allclose(np.abs(residual[0]), np.abs(residual[1]), atol=1e-9)


def test_what_is_left_to_the_other_methods():
    assert with_single_cycle(ring(3, 0.1)).tolist() == [True]
    assert with_single_cycle(ring(LONGEST_CYCLE + 1, 0.1)).tolist() == [False]
    assert with_single_cycle(ring(3, 0.1, trusted=[True, True, False])).tolist() == [False]
    path = np.stack([np.arange(2, MOST_NODES), np.arange(3, MOST_NODES + 1)])
    index = np.concatenate([np.array([[0, 1, 2], [1, 2, 0]]), path], axis=1)
    long = MeasurementGraph(index, np.zeros(index.shape[1]), MOST_NODES + 1)
    assert with_single_cycle(long).tolist() == [False]
    square = MeasurementGraph(np.array([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]]), np.ones(5), 4)
    assert with_single_cycle(square).tolist() == [False]


def test_a_repeated_measurement_checks_nothing():
    index = np.array([[0, 0, 2, 2], [1, 1, 3, 3]])
    found = METHODS["auto"]()(MeasurementGraph(index, [0.5, 0.5, 1.0, 1.0], 4))
    assert np.isnan(found.node_confidence).all()
    assert found.edge_confidence.tolist() == [1.0] * 4


def test_nodes_behind_an_unchecked_measurement_are_unknown():
    index = np.array([[0, 1, 2, 2], [1, 2, 0, 3]])
    found = METHODS["auto"]()(MeasurementGraph(index, [0.5, 1.0, -1.5, 2.0], 4))
    assert np.isnan(found.node_confidence).all()
    assert np.isnan(found.edge_confidence).tolist() == [False] * 3 + [True]


def test_thousands_of_triangles_take_no_time():
    graph = rings(2000, 3)
    began = time.process_time()
    found = METHODS["auto"]()(graph)
    # One by one they took 45 ms each: 90 s.
    assert time.process_time() - began < 4
    assert found.diagnostics["components_solved"] == 2000
    sure = found.node_confidence > 0.9
    assert sure.mean() > 0.3
