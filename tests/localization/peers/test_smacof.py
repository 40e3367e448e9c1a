import numpy as np
import pytest

from gnnsync.errors import ParameterError
from gnnsync.localization.peers import Smacof
from gnnsync.positions import position_ane
from tests.localization.peers.networks import complete_network, disc_network


def stress(network, points):
    return float(np.sum(network.residual(points) ** 2))


def test_exact_distances_give_the_points():
    network = complete_network()
    for peer in (Smacof(random_starts=0), Smacof(random_starts=3, path_start=False)):
        found = peer(network, seed=1)
        assert found.converged
        assert position_ane(found.points, network) < 1e-4


def test_the_stress_is_that_of_scikit_learn_on_a_complete_network():
    manifold = pytest.importorskip("sklearn.manifold")
    network = complete_network(12, eta=0.3, seed=3)
    matrix = network.adjacency.toarray()
    theirs = manifold.smacof(
        matrix,
        n_components=2,
        metric=True,
        n_init=8,
        eps=1e-10,
        max_iter=1000,
        random_state=0,
        normalized_stress=False,
    )[0]
    ours = Smacof(random_starts=8)(network, seed=0)
    assert stress(network, ours.points) == pytest.approx(stress(network, theirs), rel=1e-5)


def test_more_starts_fold_less():
    network = disc_network(60, eta=0.05)
    one = Smacof(random_starts=1, path_start=False)(network)
    best = Smacof(random_starts=1)(network)
    assert stress(network, best.points) < 0.5 * stress(network, one.points)


def test_one_start_at_least():
    with pytest.raises(ParameterError, match="random_starts"):
        Smacof(random_starts=0, path_start=False)
