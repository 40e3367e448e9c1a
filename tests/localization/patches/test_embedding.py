import numpy as np

from gnnsync.localization.patches.embedding import StressEmbedding, padded, scaled, shortest_paths
from gnnsync.localization.patches.rigid import RigidNeighbourhoods
from gnnsync.positions import rigid_motion
from tests.distances import disc_network


def errors(network, patches):
    """Root mean square error of each patch after its best motion onto the truth."""
    found = []
    for a in range(len(patches)):
        place = patches.position[patches.indptr[a] : patches.indptr[a + 1]]
        true = network.points[patches.members(a)]
        turn, shift = rigid_motion(place, true)
        found.append(np.sqrt(np.mean((place @ turn.T + shift - true) ** 2)))
    return np.array(found)


def test_exact_distances_give_exact_patches():
    network = disc_network(degree=14.0)
    chosen = RigidNeighbourhoods()(network)
    patches = StressEmbedding(iterations=30)(network, chosen)
    found = errors(network, patches)
    assert np.median(found) < 1e-9
    assert (found < 1e-6).mean() > 0.7  # the others have a point on the wrong side


def test_gross_errors_do_little_harm():
    network = disc_network(degree=14.0, eta=0.02, outliers=0.1)
    patches = StressEmbedding()(network, RigidNeighbourhoods()(network))
    assert np.median(errors(network, patches)) < 0.02


def test_padding_keeps_every_patch():
    patches = RigidNeighbourhoods()(disc_network())
    seen = []
    for chosen, members, valid in padded(patches):
        for a, row, mask in zip(chosen.tolist(), members, valid, strict=True):
            assert row[mask].tolist() == patches.members(a).tolist()
            seen.append(a)
    assert sorted(seen) == list(range(len(patches)))


def test_scaling_of_all_distances_is_exact():
    points = np.random.default_rng(0).random((1, 6, 2))
    apart = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    found = scaled(apart, np.ones((1, 6), bool))
    np.testing.assert_allclose(
        np.linalg.norm(found[:, :, None] - found[:, None], axis=-1), apart, atol=1e-8
    )


def test_shortest_paths_of_a_chain():
    chain = np.full((1, 3, 3), np.inf)
    chain[0, 0, 1] = chain[0, 1, 0] = 1.0
    chain[0, 1, 2] = chain[0, 2, 1] = 2.0
    assert shortest_paths(chain)[0, 0].tolist() == [0.0, 1.0, 3.0]
