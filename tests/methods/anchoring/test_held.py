import warnings

import numpy as np
import pytest

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.angles import circular_distance
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.methods import METHODS
from gnnsync.methods.anchoring.held import Anchored, AnchorWarning
from gnnsync.solve import LEARNED, with_anchors


def network(seed=0, eta=0.0, k=1, n=40, p=0.3, noise=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 2 * np.pi, (n, k))
    return observe(erdos_renyi(n, p, seed), truth, eta, rng=rng, inlier_noise=noise)


def some(graph, count):
    known = np.full_like(graph.angles, np.nan)
    known[:count] = graph.angles[:count]
    return known


@pytest.mark.parametrize("name", [name for name in METHODS if name != "trivial"])
def test_every_classical_method_holds_anchors_and_finds_the_rest(name):
    graph = network()
    known = some(graph, 4)
    solution = gnnsync.solve(graph, name, anchors=known)
    assert np.array_equal(solution.angles[:4], known[:4])
    off = circular_distance(solution.angles, graph.angles)
    assert off.max() < (0.1 if name in ("tas", "cemp_mst", "ppe") else 1e-5)
    assert solution.graph is graph
    assert solution.edge_confidence.shape == (graph.num_edges,)
    if solution.node_confidence is not None:
        assert (solution.node_confidence[:4] == 1.0).all()


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if kind.any_k])
def test_anchors_of_several_groups(name):
    graph = network(k=2, n=60, p=0.4, eta=0.1)
    known = some(graph, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnchorWarning)  # spectral methods mix the groups
        solution = gnnsync.solve(graph, name, 2, anchors=known)
    assert np.array_equal(solution.angles[:6], known[:6])
    if name == "auto":
        assert np.median(circular_distance(solution.angles, graph.angles)) < 0.05


def test_learned_methods_use_their_own_anchors():
    graph = network(n=30)
    known = some(graph, 3)
    solution = gnnsync.solve(graph, "gnnsync_inductive", anchors=known)
    assert np.array_equal(solution.angles[:3], known[:3])
    assert circular_distance(solution.angles, graph.angles).max() < 1e-4
    assert set(LEARNED) == {"gnnsync", "gnnsync_plus", "gnnsync_inductive"}


def test_anchors_help_where_offsets_do_not_suffice():
    """At η = 0.85 the offsets alone are hopeless; with most of the nodes known they are not."""
    graph = network(eta=0.85, n=100, p=0.3)
    known = some(graph, 80)
    free = circular_distance(gnnsync.solve(graph, "irls").angles, graph.angles)[80:]
    held = circular_distance(gnnsync.solve(graph, "irls", anchors=known).angles, graph.angles)[80:]
    assert np.median(held) < 0.2 < np.median(free)


def test_components_with_anchors_become_comparable():
    graph = MeasurementGraph.from_edges("abxyp", "bcyzq", [0.1, 0.2, 0.3, 0.4, 0.5])
    with pytest.warns(UserWarning, match="2 components"):
        solution = gnnsync.solve(graph, "gpm", anchors={"a": 1.0, "z": 2.0})
    angle = dict(zip(graph.names, solution.angles[:, 0], strict=True))
    assert angle["a"] == 1.0
    assert angle["c"] == pytest.approx(0.7)
    assert angle["x"] == pytest.approx(2.7)
    label = dict(zip(graph.names, solution.component.tolist(), strict=True))
    assert len({label[name] for name in "abcxyz"}) == 1
    assert label["p"] == label["q"] != label["a"]


def test_contradictions_are_warned_of_in_the_unit():
    graph = network(noise=0.02)
    truth = np.degrees(graph.angles[:, 0])
    known = {0: truth[0], 1: truth[1], 2: truth[2] + 30}
    anchored = with_anchors(METHODS["gpm"](), known, "degrees")
    with pytest.warns(AnchorWarning, match=r"held all the same: 2 is off by (29|30)[.\d]*° ± "):
        solution = anchored(graph)
    assert solution.diagnostics["anchors_contradicted"] == 1.0
    assert solution.angles[2, 0] == pytest.approx(np.radians(truth[2] + 30) % (2 * np.pi))


def test_all_angles_known_and_none():
    graph = network(n=12, p=0.6)
    solution = gnnsync.solve(graph, anchors=graph.angles)
    assert np.array_equal(solution.angles, graph.angles)
    free = gnnsync.solve(graph, "gpm")
    assert np.array_equal(gnnsync.solve(graph, "gpm", anchors={}).angles, free.angles)


def test_the_wrapper_looks_like_its_method():
    wrapped = Anchored(METHODS["spectral"](), lambda graph, k: None)
    assert wrapped.name == "spectral"
    assert wrapped.any_k
    assert isinstance(wrapped.stops_early, bool)
