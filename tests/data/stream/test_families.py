import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnsync.data.stream.families import FAMILIES, BarabasiAlbert, Grid, LoopClosures, SmallWorld
from gnnsync.data.stream.unseen import UNSEEN_FAMILIES
from gnnsync.errors import ParameterError
from gnnsync.topology import component_labels

ALL = {**FAMILIES, **UNSEEN_FAMILIES}


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(8, 80),
    share=st.floats(0.02, 1.0),
    seed=st.integers(0, 1000),
)
def test_pairs_are_ordered_distinct_and_connected(name, n, share, seed):
    pairs = ALL[name](n, max(share * (n - 1), 2.0), np.random.default_rng(seed))
    assert pairs.dtype == np.int64
    assert (pairs[0] < pairs[1]).all()
    assert pairs.min() >= 0
    assert pairs.max() < n
    assert len(np.unique(pairs[0] * n + pairs[1])) == pairs.shape[1]
    assert component_labels(pairs, n).max() == 0


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("n", "degree"), [(60, 9), (150, 20.5), (360, 54)])
def test_the_mean_degree_is_the_wished_one(name, n, degree):
    drawn = [ALL[name](n, degree, np.random.default_rng(seed)).shape[1] for seed in range(8)]
    assert 2 * np.mean(drawn) / n == pytest.approx(degree, rel=0.06)


@pytest.mark.parametrize("name", ALL)
def test_a_seed_gives_the_same_pairs(name):
    first, again, other = (ALL[name](90, 12, np.random.default_rng(s)) for s in (4, 4, 5))
    np.testing.assert_array_equal(first, again)
    assert name == "ring_lattice" or not np.array_equal(first, other)


def triangle_rate(pairs, n):
    """Closed share of the wedges."""
    adjacency = np.zeros((n, n))
    adjacency[pairs[0], pairs[1]] = adjacency[pairs[1], pairs[0]] = 1
    wedges = adjacency @ adjacency
    np.fill_diagonal(wedges, 0)
    return (wedges * adjacency).sum() / wedges.sum()


@pytest.mark.parametrize("name", FAMILIES)
def test_spatial_families_are_those_with_many_triangles(name):
    pairs = [FAMILIES[name](400, 16, np.random.default_rng(s)) for s in range(8)]
    rate = np.mean([triangle_rate(p, 400) for p in pairs])
    if name != "small_world":  # many triangles, but far links keep its diameter small
        assert (rate > 0.2) == FAMILIES[name].spatial


def test_preferential_attachment_has_hubs():
    pairs = BarabasiAlbert()(300, 10, np.random.default_rng(0))
    assert np.bincount(pairs.ravel()).max() > 40


def test_a_grid_of_degree_four_is_a_lattice():
    pairs = Grid(elongation=1.0)(100, 3.6, np.random.default_rng(0))
    assert set((pairs[1] - pairs[0]).tolist()) == {1, 10}


def test_closures_leave_the_path_whole():
    graphs = [LoopClosures()(120, 6, np.random.default_rng(seed)) for seed in range(5)]
    for i, j in graphs:
        assert (j - i == 1).sum() == 119
    step = np.concatenate([pairs[1] - pairs[0] for pairs in graphs])
    assert ((step > 1) & (step <= 12)).mean() > 0.2
    assert (step > 30).mean() > 0.1


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="most = 2"):
        SmallWorld(most=2)
