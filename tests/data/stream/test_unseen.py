import numpy as np
import pytest

from gnnsync.data.stream.families import FAMILIES
from gnnsync.data.stream.laws import INLIER_LAWS, PRIORS
from gnnsync.data.stream.unseen import (
    UNSEEN_FAMILIES,
    UNSEEN_INLIER_LAWS,
    UNSEEN_PRIORS,
    Bipartite,
    Communities,
    RandomRegular,
    VonMisesMixtureAngles,
)


@pytest.mark.parametrize(
    ("unseen", "seen"),
    [(UNSEEN_FAMILIES, FAMILIES), (UNSEEN_INLIER_LAWS, INLIER_LAWS), (UNSEEN_PRIORS, PRIORS)],
)
def test_training_has_none_of_them(unseen, seen):
    assert not set(unseen) & set(seen)
    assert not set(unseen.values()) & set(seen.values())


def test_regular_graphs_have_one_degree():
    pairs = RandomRegular()(100, 12, np.random.default_rng(0))
    assert set(np.bincount(pairs.ravel()).tolist()) == {12}


def test_communities_keep_most_links_inside():
    i, j = Communities(communities=4)(200, 20, np.random.default_rng(0))
    # 12·49 likely partners inside against 150 outside.
    assert (i % 4 == j % 4).mean() == pytest.approx(12 * 49 / (12 * 49 + 150), abs=0.05)


def test_bipartite_graphs_have_two_sides():
    i, j = Bipartite(share=0.3)(200, 20, np.random.default_rng(0))
    assert i.max() < 60 <= j.min()


def test_the_mixture_has_its_directions():
    angles = VonMisesMixtureAngles(components=2, concentration=400.0)(
        500, 3, np.random.default_rng(0)
    )
    assert angles.shape == (500, 3)
    for column in np.exp(1j * angles).T:
        # Two narrow clusters: the products of all directions with one of them are two values.
        near = np.abs(np.angle(column / column[0])) < 0.4
        assert 0.3 < near.mean() < 0.7 or near.all()
