"""The pass in NumPy and the pass in torch."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync.data import measurement as graphs
from gnnsync.data.priors import UniformAngles
from gnnsync.data.synthetic import SyntheticNetworks
from gnnsync.learn.inductive.method import stored_network
from gnnsync.learn.inductive.passes import network_pass, torch_pass
from gnnsync.methods.robust.unrolled.start import prepare, seed_problem, with_solved_seed


@pytest.mark.parametrize(
    ("model", "k"), [(graphs.erdos_renyi, 1), (graphs.erdos_renyi, 2), (graphs.random_geometric, 1)]
)
@pytest.mark.parametrize("sweeps", [None, 3])
def test_numpy_and_torch_believe_the_same(model, k, sweeps):
    data = SyntheticNetworks(model, UniformAngles(), 80, 0.25, 0.3, k, inlier_noise=0.1, seeds=(3,))
    prepared = prepare(data.graphs[0], k, rng=np.random.default_rng(0))
    network = stored_network(None)
    ours, inlier = network_pass(network, "cpu")(prepared, sweeps)
    theirs, other = torch_pass(network, "cpu", prepared, sweeps)
    # float32 over many sweeps.
    np.testing.assert_allclose(ours.marginals, theirs.marginals, atol=3e-3)
    np.testing.assert_allclose(inlier, other, atol=3e-3)
    assert ours.sweeps == theirs.sweeps


def test_the_seed_of_several_groups_is_solved_before_the_rest():
    data = SyntheticNetworks(
        graphs.random_geometric, UniformAngles(), 250, 0.15, 0.2, 3, inlier_noise=0.1, seeds=(5,)
    )
    rng = np.random.default_rng(0)
    prepared = prepare(data.graphs[0], 3, rng=rng)
    seed = seed_problem(prepared, rng)
    assert seed is not None
    assert 0 < seed.graph.num_nodes < data.graphs[0].num_nodes
    moved = with_solved_seed(prepared, seed.start + 1.0)
    inside = prepared.sure > 0
    np.testing.assert_allclose(moved.start[inside], prepared.start[inside] + 1.0)
    np.testing.assert_allclose(moved.start[~inside], prepared.start[~inside])
    assert seed_problem(prepare(data.graphs[0], 1, rng=rng), rng) is None
