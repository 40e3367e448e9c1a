"""The probability that a node's angle is right."""

import csv
import json

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.data import LocalizationDataModule
from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.data.points import Letters
from gnnsync.data.priors import UniformAngles
from gnnsync.io import write_solution
from gnnsync.methods import GPM, METHODS, Auto, DisconnectedGraphWarning
from gnnsync.methods.robust.confidence.node_confidence import calibrated, node_confidence
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE
from tests.methods.networks import networks, noisy, observed

STATING = ("auto", "belief", "cycles", "gnc")
each = pytest.mark.parametrize("name", STATING)


@each
def test_exact_offsets_have_full_confidence(name):
    graph = observed(erdos_renyi(80, 0.2, 1), seed=1)
    confidence = METHODS[name]()(graph).node_confidence
    assert confidence.shape == (80,)
    assert confidence.min() > 0.99
    assert confidence.max() <= 1.0


@each
@pytest.mark.parametrize("k", [1, 2])
def test_outliers_alone_have_low_confidence(name, k):
    graph = observed(erdos_renyi(60, 0.2, 1), eta=1.0, k=k, seed=1)
    assert METHODS[name]()(graph, k).node_confidence.mean() < 0.4


def test_a_node_with_one_edge_is_as_certain_as_the_edge():
    """No second prediction confirms the one of node 80; the other nodes confirm one another."""
    graph = observed(erdos_renyi(80, 0.3, 1), eta=0.5, seed=1)
    lone = MeasurementGraph(
        np.concatenate([graph.edge_index, [[0], [80]]], axis=1), np.append(graph.offset, 1.0), 81
    )
    confidence = Auto()(lone).node_confidence
    assert confidence[:80].min() > 0.95
    assert 0.05 < confidence[80] < 0.8


def test_a_body_attached_by_one_edge_is_as_certain_as_that_edge():
    """Its relative angles are certain; its rotation depends on a single edge of odds two to one."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(30, 1)
    angles = rng.uniform(0, 6, 60)
    index = np.concatenate([np.stack([i, j]), np.stack([i, j]) + 30, [[0], [30]]], axis=1)
    offset = angles[index[0]] - angles[index[1]]
    outlier = (rng.random(len(offset)) < 0.4) & (np.arange(len(offset)) < len(offset) - 1)
    offset = np.where(outlier, rng.uniform(0, 6, len(offset)), offset)
    graph = MeasurementGraph(index, offset, 60, angles=angles)
    fit = fit_mixture(graph, graph.angles, move=False)
    confidence = node_confidence(graph, fit, np.random.default_rng(0))
    halves = sorted([confidence[:30].mean(), confidence[30:].mean()])
    assert halves[1] > 0.99
    assert 0.4 < halves[0] < 0.85


def test_stated_and_found_agree():
    """On networks with many open nodes; `benchmarks.confidence` has many kinds of network."""
    graphs = [
        *networks(p=0.05, eta=0.7, n=250, seeds=(3, 4, 5)),
        *networks(p=0.05, eta=0.6, inlier_noise=0.1, n=250, seeds=(3,)),
    ]
    solutions = [Auto()(graph) for graph in graphs]
    stated = np.concatenate([solution.node_confidence for solution in solutions])
    errors = [aligned_error(s.angles, g.angles) for s, g in zip(solutions, graphs, strict=True)]
    right = np.concatenate(errors)[:, 0] < NODE_TOLERANCE
    assert stated.mean() == pytest.approx(right.mean(), abs=0.08)
    sure, unsure = stated > 0.95, stated < 0.3
    assert right[sure].mean() > 0.95
    assert right[unsure].mean() < 0.4


@each
def test_direction_numbering_and_rotations_do_not_matter(name):
    graph = noisy(eta=0.5)
    rng = np.random.default_rng(0)
    back, order = rng.random(graph.num_edges) < 0.5, rng.permutation(graph.num_nodes)
    rotation = rng.uniform(0, 7, graph.num_nodes)
    index = np.where(back, graph.edge_index[::-1], graph.edge_index)
    offset = np.where(back, -graph.offset, graph.offset) + rotation[index[0]] - rotation[index[1]]
    other = MeasurementGraph(order[index], offset, graph.num_nodes, weight=graph.weight)
    one, two = (METHODS[name]()(g).node_confidence for g in (graph, other))
    # The error of the angles is estimated from samples.
    np.testing.assert_allclose(two[order], one, atol=0.05)


def _one(local, mass, evidence, recovered):
    return float(
        calibrated(
            np.array([local]),
            None if mass is None else np.array([mass]),
            evidence,
            None if recovered is None else np.array([recovered]),
        )[0]
    )


@pytest.mark.parametrize("recovered", [None, 0.5])
@pytest.mark.parametrize("mass", [None, 0.5])
def test_calibration_rises_with_each_of_its_terms(mass, recovered):
    base = _one(0.5, mass, 0.0, recovered)
    assert _one(0.9, mass, 0.0, recovered) > base
    if mass is not None:
        assert _one(0.5, 0.9, 0.0, recovered) > base
    if recovered is not None:
        assert _one(0.5, mass, 0.0, 0.9) > base
    else:
        assert _one(0.5, mass, 1.0, recovered) > base
    least, most = (None if recovered is None else bound for bound in (0.0, 1.0))
    assert 0 < _one(0.0, mass, -9.0, least) < base
    assert _one(1.0, mass, 99.0, most) < 1


def test_regions_that_may_be_rotated_have_low_confidence():
    """Sparse geometric networks: every node agrees with its neighbours, and few are right."""
    graphs = networks(
        random_geometric, p=0.06, eta=0.45, inlier_noise=0.1, n=280, seeds=(1, 2, 3, 4)
    )
    solutions = [Auto()(graph) for graph in graphs]
    errors = [aligned_error(s.angles, g.angles) for s, g in zip(solutions, graphs, strict=True)]
    right = np.concatenate(errors)[:, 0] < NODE_TOLERANCE
    stated = np.concatenate([solution.node_confidence for solution in solutions])
    assert stated.mean() == pytest.approx(right.mean(), abs=0.2)


def test_noise_shared_by_patches_lowers_the_confidence():
    """On a noisy map hundreds of offsets per node do not average out."""
    module = LocalizationDataModule(Letters("SYNC", 250, 5), UniformAngles(), eta=0.6, seeds=[1])
    graph = module.graphs[0]
    solution = Auto()(graph)
    right = aligned_error(solution.angles, graph.angles)[:, 0] < NODE_TOLERANCE
    assert right.mean() < 0.95
    assert solution.node_confidence.mean() == pytest.approx(right.mean(), abs=0.12)


def test_rotations_and_numbering_do_not_matter_on_extended_graphs():
    graph = networks(random_geometric, p=0.1, eta=0.4, inlier_noise=0.3, n=200, seeds=(1,))[0]
    rng = np.random.default_rng(0)
    order, rotation = rng.permutation(200), rng.uniform(0, 7, 200)
    index = graph.edge_index
    offset = graph.offset + rotation[index[0]] - rotation[index[1]]
    other = MeasurementGraph(order[index], offset, 200)
    one, two = (Auto()(g).node_confidence for g in (graph, other))
    assert one.min() < 0.95
    # The bootstrap has a few samples only.
    assert one.mean() == pytest.approx(two.mean(), abs=0.03)
    np.testing.assert_array_equal(one, Auto()(graph).node_confidence)


def test_components_and_lone_nodes():
    """A node without edges is its own reference."""
    first, second = observed(erdos_renyi(40, 0.4, 1)), observed(erdos_renyi(30, 0.4, 2))
    graph = MeasurementGraph(
        np.concatenate([first.edge_index, second.edge_index + 41], axis=1),
        np.concatenate([first.offset, second.offset]),
        71,
    )
    with pytest.warns(DisconnectedGraphWarning):
        confidence = Auto()(graph).node_confidence
    assert confidence.shape == (71,)
    assert confidence.min() > 0.99


def test_methods_without_a_noise_model_state_no_confidence():
    graph = noisy()
    assert GPM()(graph).node_confidence is None
    assert Auto(refine=2)(graph).node_confidence is None


@pytest.mark.parametrize("method", ["auto", "gpm"])
def test_files_have_the_confidence_if_it_is_stated(method, tmp_path):
    graph = noisy()
    solution = METHODS[method]()(graph)
    for ending in ("csv", "json", "npz"):
        write_solution(graph, solution, tmp_path / f"angles.{ending}")
    with (tmp_path / "angles.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    content = json.loads((tmp_path / "angles.json").read_text())
    arrays = np.load(tmp_path / "angles.npz")
    if method == "gpm":
        assert list(rows[0]) == ["node", "angle", "component"]
        assert "node_confidence" not in content
        assert "node_confidence" not in arrays
        return
    assert list(rows[0]) == ["node", "angle", "component", "confidence", "deviation"]
    np.testing.assert_allclose([float(r["confidence"]) for r in rows], solution.node_confidence)
    np.testing.assert_array_equal(content["node_confidence"], solution.node_confidence)
    np.testing.assert_array_equal(arrays["node_confidence"], solution.node_confidence)
