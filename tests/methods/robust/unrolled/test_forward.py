"""The forward pass in NumPy against the network in torch."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from gnnsync.angles import wrap
from gnnsync.data.outliers import observe
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.weights import save_weights
from gnnsync.methods.robust.unrolled.forward import num_sweeps, unrolled_posterior
from gnnsync.methods.robust.unrolled.start import prepare
from gnnsync.methods.robust.unrolled.weights import read_weights

NODES = 90


def erdos_renyi(rng):
    pairs = np.stack(np.triu_indices(NODES, 1))
    return pairs[:, rng.random(pairs.shape[1]) < 0.3]


def geometric(rng):
    points, pairs = rng.random((NODES, 2)), np.stack(np.triu_indices(NODES, 1))
    distance = np.linalg.norm(points[pairs[0]] - points[pairs[1]], axis=1)
    return pairs[:, distance < 0.3]


def graph_of(family, k, rng, **options):
    angles = rng.uniform(0.0, 2 * np.pi, (NODES, k))
    drawn = observe(family(rng), angles, 0.2, rng=rng, inlier_noise=0.1)
    return MeasurementGraph(drawn.edge_index, drawn.offset, NODES, angles=angles, **options)


def in_double(prepared):
    """A batch in double precision: in single precision torch loses more than NumPy does."""
    batch = collate([prepared])
    tensors = {field.name: getattr(batch, field.name) for field in fields(batch)}
    exact = {
        name: value.double()
        for name, value in tensors.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
    }
    exact["residual"] = torch.as_tensor(wrap(-prepared.graph.residual(prepared.start)))
    return replace(batch, **exact)


def both(prepared, folder, **arguments):
    """Marginals in torch, in double precision, and in NumPy, of a network with random weights."""
    torch.manual_seed(0)
    network = UnrolledPropagation(hidden=8, **arguments)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    save_weights(folder / "random.safetensors", network)
    weights = read_weights(folder / "random.safetensors")
    batch = in_double(prepared)
    network = network.double()
    with torch.inference_mode():
        state = network.final(batch)
        expected = network.marginals(state).numpy()
    found = unrolled_posterior(prepared, weights)
    assert found.sweeps == network.num_sweeps(batch) == num_sweeps(prepared, weights)
    np.testing.assert_allclose(found.share, state.share[0].numpy(), atol=1e-4)
    assert found.sigma == pytest.approx(float(state.log_sigma.exp()), abs=1e-4)
    return expected, found.marginals


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("family", [erdos_renyi, geometric])
def test_numpy_and_torch_agree(family, k, tmp_path):
    rng = np.random.default_rng(3)
    prepared = prepare(graph_of(family, k, rng), k, rng=rng)
    expected, found = both(prepared, tmp_path, layers=6)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_iterated_layer_agrees(tmp_path):
    rng = np.random.default_rng(4)
    prepared = prepare(graph_of(erdos_renyi, 1, rng), rng=rng)
    expected, found = both(prepared, tmp_path, layers=4, tied=True)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_weights_trusted_edges_and_anchors_agree(tmp_path):
    rng = np.random.default_rng(5)
    plain = graph_of(geometric, 1, rng)
    m = plain.num_edges
    graph = MeasurementGraph(
        plain.edge_index,
        plain.offset,
        NODES,
        weight=rng.uniform(0.3, 3.0, m),
        trusted=rng.random(m) < 0.02,
    )
    known = np.full((NODES, 1), np.nan)
    known[:5] = plain.angles[:5]
    prepared = prepare(graph, rng=rng, known=known)
    expected, found = both(prepared, tmp_path, layers=5)
    # Both are in 32 bits, whose rounding depends on the processor: 1.1e-4 was seen.
    np.testing.assert_allclose(found, expected, atol=5e-4)
    assert (found[:5].argmax(axis=2) == 0).all()


def test_every_node_may_be_rotated_by_itself(tmp_path):
    rng = np.random.default_rng(6)
    graph = graph_of(erdos_renyi, 1, rng)
    network = UnrolledPropagation(layers=4)
    save_weights(tmp_path / "first.safetensors", network)
    weights = read_weights(tmp_path / "first.safetensors")
    turn = rng.uniform(0.0, 2 * np.pi, NODES)
    turned = MeasurementGraph(
        graph.edge_index,
        np.mod(graph.offset + turn[graph.src] - turn[graph.dst], 2 * np.pi),
        NODES,
    )
    one, two = (
        unrolled_posterior(prepare(g, rng=np.random.default_rng(0)), weights)
        for g in (graph, turned)
    )
    change = np.exp(1j * (two.modes()[:, 0] - turn - one.modes()[:, 0]))
    assert np.abs(change / change[0] - 1.0).max() < 1e-3
