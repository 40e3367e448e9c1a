"""Properties of every classical method."""

import warnings
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from gnnsync import MeasurementGraph
from gnnsync.angles import align, circular_distance
from gnnsync.errors import GraphError, ParameterError
from gnnsync.methods import (
    METHODS,
    ClassicalMethod,
    DisconnectedGraphWarning,
    Estimate,
    Method,
    refined,
)
from gnnsync.metrics import angular_mse
from gnnsync.topology import forest_angles
from gnnsync.work import Work, watched
from tests.methods.networks import SHAPES, noisy, observed

CLASSICAL = list(METHODS)
SERIOUS = [name for name in CLASSICAL if name != "trivial"]
CONF = Path(__file__).resolve().parents[2] / "conf" / "method"


def make(name):
    return METHODS[name]()


def assert_same_angles(found, expected, tolerance=1e-5):
    """Equal up to one rotation."""
    gap = circular_distance(align(found[:, 0], expected[:, 0]), expected[:, 0])
    assert gap.max() < tolerance


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", SERIOUS)
def test_exact_offsets_are_solved(name, shape):
    graph = observed(SHAPES[shape], seed=5)
    assert graph.is_connected
    solution = make(name)(graph)
    assert angular_mse(solution.angles, graph.angles) < 1e-8
    assert solution.converged
    assert solution.stop_reason


@pytest.mark.parametrize("name", SERIOUS)
def test_exact_offsets_with_weights_are_solved(name):
    graph = observed(SHAPES["random_geometric"], seed=5, weighted=True)
    assert angular_mse(make(name)(graph).angles, graph.angles) < 1e-8


@pytest.mark.parametrize("scale", [2.0**-1070, 2.0**1020])
@pytest.mark.parametrize("name", CLASSICAL)
def test_extreme_weights_are_weighed(name, scale):
    """Of 5e-324 and 1.7e308 only the ratios to the other weights count."""
    graph = noisy()
    steps = np.random.default_rng(0).integers(1, 8, graph.num_edges).astype(float)
    expected = make(name)(graph.replace(weight=steps)).angles
    assert_same_angles(make(name)(graph.replace(weight=steps * scale)).angles, expected)


@pytest.mark.parametrize("name", SERIOUS)
def test_rotating_each_node_rotates_the_answer(name):
    graph = noisy()
    rotation = np.random.default_rng(0).uniform(0, 7, graph.num_nodes)
    rotated = graph.replace(offset=graph.offset + rotation[graph.src] - rotation[graph.dst])
    expected = make(name)(graph).angles + rotation[:, None]
    assert_same_angles(make(name)(rotated).angles, expected)


@pytest.mark.parametrize("name", CLASSICAL)
def test_renaming_nodes_permutes_the_answer(name):
    graph = noisy()
    new_name = np.random.default_rng(0).permutation(graph.num_nodes)
    renamed = graph.replace(edge_index=new_name[graph.edge_index], angles=None)
    assert_same_angles(make(name)(renamed).angles[new_name], make(name)(graph).angles)


@pytest.mark.parametrize("name", CLASSICAL)
def test_order_and_direction_of_edges_do_not_matter(name):
    graph = noisy()
    rng = np.random.default_rng(0)
    order, back = rng.permutation(graph.num_edges), rng.random(graph.num_edges) < 0.5
    index = np.where(back, graph.edge_index[::-1], graph.edge_index)[:, order]
    offset = np.where(back, -graph.offset, graph.offset)[order]
    same = MeasurementGraph(index, offset, graph.num_nodes, weight=graph.weight[order])
    one, other = make(name)(graph), make(name)(same)
    assert_same_angles(other.angles, one.angles)
    np.testing.assert_allclose(other.edge_confidence, one.edge_confidence[order], atol=1e-5)


@pytest.mark.parametrize("name", CLASSICAL)
def test_scale_of_the_weights_does_not_matter(name):
    graph = noisy()
    scaled = graph.replace(weight=graph.weight * 1e3)
    assert_same_angles(make(name)(scaled).angles, make(name)(graph).angles)


@pytest.mark.parametrize("name", CLASSICAL)
def test_weight_two_equals_measuring_twice(name):
    once = noisy(weighted=False)
    twice = np.random.default_rng(0).random(once.num_edges) < 0.3
    weighted = once.replace(weight=np.where(twice, 2.0, 1.0))
    repeated = MeasurementGraph(
        np.concatenate([once.edge_index, once.edge_index[:, twice]], axis=1),
        np.concatenate([once.offset, once.offset[twice]]),
        once.num_nodes,
    )
    assert_same_angles(make(name)(repeated).angles, make(name)(weighted).angles)


@pytest.mark.parametrize("name", SERIOUS)
def test_weights_are_used(name):
    """Outliers of nearly no weight do no harm."""
    graph = noisy(eta=0.4, weighted=False)
    trusted = graph.replace(weight=np.where(graph.group < 0, 1e-9, 1.0))
    assert angular_mse(make(name)(trusted).angles, graph.angles) < 1e-8


@pytest.mark.parametrize("name", CLASSICAL)
def test_a_seed_fixes_every_bit(name):
    graph = noisy(eta=0.6)
    one, other = make(name)(graph, seed=3), make(name)(graph, seed=3)
    np.testing.assert_array_equal(one.angles, other.angles)
    assert one.iterations == other.iterations
    assert one.diagnostics == other.diagnostics


@pytest.mark.parametrize("name", CLASSICAL)
def test_degenerate_graphs(name):
    method = make(name)
    alone = method(MeasurementGraph(np.empty((2, 0)), np.empty(0), 1))
    assert alone.angles.shape == (1, 1)
    assert alone.converged
    with pytest.warns(DisconnectedGraphWarning, match="3 components"):
        edgeless = method(MeasurementGraph(np.empty((2, 0)), np.empty(0), 3))
    assert edgeless.stop_reason == "no edges"
    np.testing.assert_array_equal(edgeless.component, [0, 1, 2])
    # A contradictory pair: measured as π/2 one way and as 3π/2 the other way round the circle.
    torn = MeasurementGraph(np.array([[0, 0], [1, 1]]), np.array([np.pi / 2, -np.pi / 2]), 2)
    for graph in (torn, noisy(eta=1.0)):
        solution = method(graph)
        assert np.isfinite(solution.angles).all()
        assert ((solution.edge_confidence >= 0) & (solution.edge_confidence <= 1)).all()
        assert all(np.isfinite(value) for value in solution.diagnostics.values())


@pytest.mark.parametrize("name", SERIOUS)
def test_components_and_isolated_nodes(name):
    """Two networks and a lone node between them, offsets many turns outside [0, 2π)."""
    first, second = observed(SHAPES["erdos_renyi"], seed=1), observed(SHAPES["triangle"], seed=2)
    gap = first.num_nodes + 1
    graph = MeasurementGraph(
        np.concatenate([first.edge_index, second.edge_index + gap], axis=1),
        np.concatenate([first.offset + 20 * np.pi, second.offset - 6 * np.pi]),
        gap + second.num_nodes,
    )
    with pytest.warns(DisconnectedGraphWarning):
        solution = make(name)(graph)
    assert angular_mse(solution.angles[: gap - 1], first.angles) < 1e-8
    assert angular_mse(solution.angles[gap:], second.angles) < 1e-8
    assert solution.diagnostics["components_solved"] == 2
    # One triangle that closes is no certainty.
    assert solution.edge_confidence.min() > 0.99


@dataclass(frozen=True)
class Recorder(ClassicalMethod):
    """Returns angles along a spanning tree, and keeps the graphs it was called with."""

    seen: list = field(default_factory=list)

    def estimate(self, graph, k, rng):
        self.seen.append(graph)
        angles = forest_angles(graph.edge_index, graph.offset, graph.num_nodes)
        residual = np.abs(graph.residual(angles[:, None]))[:, 0]
        return Estimate(angles, edge_confidence=1 / (1 + residual))


def interleaved(parts, seed=0):
    """One graph of several components with shuffled node numbers, and the nodes of each."""
    sizes = [part.num_nodes for part in parts]
    number = np.random.default_rng(seed).permutation(sum(sizes))
    nodes = np.split(number, np.cumsum(sizes)[:-1])
    graph = MeasurementGraph(
        np.concatenate([own[part.edge_index] for own, part in zip(nodes, parts, strict=True)], 1),
        np.concatenate([part.offset for part in parts]),
        sum(sizes),
        weight=np.concatenate([part.weight for part in parts]),
    )
    return graph, nodes


def test_every_component_is_solved_alone():
    """Each call gets one component: its own offsets and weights, and no node of another."""
    parts = [noisy(seed=seed, n=n) for seed, n in ((1, 30), (2, 50), (3, 40))]
    graph, nodes = interleaved(parts)
    method = Recorder()
    with pytest.warns(DisconnectedGraphWarning, match="3 components"):
        solution = method(graph)
    assert sorted(part.num_nodes for part in method.seen) == [30, 40, 50]
    for part in method.seen:
        (own,) = (p for p in parts if p.num_nodes == part.num_nodes)
        assert part.is_connected
        np.testing.assert_array_equal(part.offset, own.offset)
        np.testing.assert_array_equal(part.weight, own.weight)
    start = 0
    for own, part in zip(nodes, parts, strict=True):
        alone = Recorder()(part.replace(edge_index=np.argsort(np.argsort(own))[part.edge_index]))
        assert_same_angles(solution.angles[np.sort(own)], alone.angles, 1e-9)
        edges = slice(start, start + part.num_edges)
        np.testing.assert_allclose(solution.edge_confidence[edges], alone.edge_confidence)
        start += part.num_edges


@pytest.mark.parametrize("name", SERIOUS)
def test_components_do_not_influence_one_another(name):
    """Noisy components of different size: the angles are those of each component by itself."""
    parts = [noisy(seed=3), noisy(seed=4, n=40, p=0.5)]
    graph, nodes = interleaved(parts)
    with pytest.warns(DisconnectedGraphWarning):
        solution = make(name)(graph)
    for own, part in zip(nodes, parts, strict=True):
        assert_same_angles(solution.angles[own], make(name)(part).angles)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.inf, np.nan])
def test_senseless_weights_are_refused_at_the_door(weight):
    with pytest.raises(GraphError, match="weight"):
        MeasurementGraph(np.array([[0], [1]]), np.array([1.0]), 2, weight=np.array([weight]))


@pytest.mark.parametrize("name", CLASSICAL)
def test_k_above_one_is_solved_or_refused(name):
    graph = observed(SHAPES["erdos_renyi"], k=2, seed=1)
    method = make(name)
    if method.any_k:
        solution = method(graph, 2)
        assert solution.angles.shape == (graph.num_nodes, 2)
        assert set(np.unique(solution.edge_group)) <= {0, 1}
        return
    with pytest.raises(ParameterError, match=rf"must be 1 for {name}; for k > 1 use") as error:
        method(graph, 2)
    for other in ("spectral", "spectral_rn", "spectral_disentangled"):
        assert other in str(error.value)


@pytest.mark.parametrize("name", CLASSICAL)
def test_refine_field_equals_refined(name):
    graph = noisy()
    by_field, by_wrapper = METHODS[name](refine=5)(graph), refined(make(name), 5)(graph)
    assert_same_angles(by_field.angles, by_wrapper.angles, 1e-9)
    assert by_field.diagnostics == by_wrapper.diagnostics
    assert by_field.stop_reason.endswith("then 5 projected gradient steps")
    assert by_wrapper.stop_reason == by_field.stop_reason


@pytest.mark.parametrize("name", CLASSICAL)
def test_protocol_and_config(name):
    """The YAML of a method states each field; the class's own default is that of `repaired`."""
    method = make(name)
    assert isinstance(method, Method)
    assert method.name == name
    protocol = OmegaConf.load(CONF.parent / "protocol" / "repaired.yaml").protocol
    written = OmegaConf.create(
        {"protocol": protocol, "method": OmegaConf.load(CONF / f"{name}.yaml")}
    )
    config = OmegaConf.to_container(written.method, resolve=True)
    assert config.pop("_target_") == f"{type(method).__module__}.{type(method).__name__}"
    assert config == {field.name: field.default for field in fields(method)}


@pytest.mark.parametrize("name", CLASSICAL)
def test_refine_must_be_a_count(name):
    with pytest.raises(ParameterError, match="refine = -1"):
        METHODS[name](refine=-1)


def test_a_connected_graph_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make("spectral")(noisy())


def test_many_components_keep_their_own_offsets():
    """Thousands of pairs in shuffled order; a joint eigenvector would satisfy one of them."""
    count = 3000
    rng = np.random.default_rng(0)
    index = rng.permutation(2 * count).reshape(2, count)
    graph = MeasurementGraph(index, rng.uniform(0, 2 * np.pi, count), 2 * count)
    with pytest.warns(DisconnectedGraphWarning):
        solution = make("spectral")(graph)
    assert np.abs(graph.residual(solution.angles)).max() < 1e-9
    assert solution.diagnostics["components_solved"] == count


class Asks(Work):
    """Work whose time is up when solvers have asked for it a number of times."""

    def __init__(self, allowed: int) -> None:
        super().__init__(time_limit=100.0)
        self.left = allowed

    def time_is_up(self) -> bool:
        self.left -= 1
        self.cut_short = self.left < 0
        return self.cut_short


@pytest.mark.parametrize("allowed", [0, 1, 4, 16, 64, 256])
@pytest.mark.parametrize("name", CLASSICAL)
def test_a_time_limit_gives_the_best_so_far_and_says_so(name, allowed):
    graph = noisy(weighted=False)
    with watched(Asks(allowed)) as work:
        solution = make(name)(graph)
    assert np.isfinite(solution.angles).all()
    assert np.isfinite(solution.edge_confidence).all()
    assert solution.stop_reason.startswith("time limit of 100 s: ") is work.cut_short
    assert work.cut_short or allowed > 0
    assert work.stages == []


@pytest.mark.parametrize("name", CLASSICAL)
def test_every_method_can_be_given_a_time_limit(name):
    assert make(name).stops_early


@pytest.mark.parametrize("name", [n for n in CLASSICAL if METHODS[n].any_k])
def test_a_time_limit_with_several_groups_and_components(name):
    graph = noisy(weighted=False)
    twice = MeasurementGraph(
        np.concatenate([graph.edge_index, graph.edge_index + graph.num_nodes], axis=1),
        np.tile(graph.offset, 2),
        2 * graph.num_nodes,
    )
    for allowed in (0, 3, 30):
        with watched(Asks(allowed)), warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            solution = make(name)(twice, 2)
        assert solution.angles.shape == (twice.num_nodes, 2)
        assert np.isfinite(solution.angles).all()
