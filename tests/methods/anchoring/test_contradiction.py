import numpy as np
import pytest

from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.methods.anchoring.contradiction import find_contradictions


def network(seed, eta=0.2, noise=0.1, n=60, p=0.4):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 2 * np.pi, (n, 1))
    return observe(erdos_renyi(n, p, seed), truth, eta, rng=rng, inlier_noise=noise)


def anchors(graph, count):
    known = np.full(graph.num_nodes, np.nan)
    known[:count] = graph.angles[:count, 0]
    return known


@pytest.mark.parametrize("seed", range(8))
def test_right_anchors_are_not_accused(seed):
    graph = network(seed)
    assert find_contradictions(graph, anchors(graph, 5), graph.angles[:, 0]) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_wrong_anchor_is_named_with_its_excess(seed):
    graph = network(seed)
    known = anchors(graph, 5)
    known[3] += 0.5
    held = np.where(np.isfinite(known), known, graph.angles[:, 0])
    (found,) = find_contradictions(graph, known, held)
    assert found.node == 3
    assert found.excess == pytest.approx(0.5, abs=4 * found.deviation)
    assert 0.01 < found.deviation < 0.1


def test_exact_measurements_show_small_excesses():
    graph = network(0, eta=0.0, noise=0.0)
    known = anchors(graph, 3)
    known[1] += 1e-3
    (found,) = find_contradictions(graph, known, graph.angles[:, 0])
    assert found.node == 1
    assert found.excess == pytest.approx(1e-3, rel=1e-3)


def test_a_chain_has_no_noise_to_compare_with(make_multigraph):
    graph = make_multigraph(0, n=4, m=0).replace(
        edge_index=[[0, 1, 2], [1, 2, 3]], offset=[0.0, 0.0, 0.0], angles=None
    )
    held = np.array([0.0, np.nan, np.nan, 0.2])
    assert find_contradictions(graph, held, np.zeros(4)) == []
    held[3] = 1.0
    (found,) = find_contradictions(graph, held, np.zeros(4))
    assert np.isnan(found.deviation)
    assert abs(found.excess) == pytest.approx(1.0)


def test_one_anchor_per_component_cannot_contradict(make_multigraph):
    graph = make_multigraph(0, connected=True)
    known = np.full(graph.num_nodes, np.nan)
    known[2] = 1.0
    assert find_contradictions(graph, known, np.zeros(graph.num_nodes)) == []
