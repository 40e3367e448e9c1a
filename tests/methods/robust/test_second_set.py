"""The test for a second set of angles."""

from __future__ import annotations

import numpy as np
import pytest

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.methods.robust.second_set import find_second_set


def mixed(share: float, eta: float, seed: int, n: int = 120, sigma: float = 0.05):
    """A random graph of which `share` of the inliers measure a second set of angles."""
    rng = np.random.default_rng(seed)
    index = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.2]).T
    m = index.shape[1]
    angles = rng.uniform(0, 2 * np.pi, (n, 2))
    group = (rng.random(m) < share).astype(int)
    offset = angles[index[0], group] - angles[index[1], group] + sigma * rng.standard_normal(m)
    outlier = rng.random(m) < eta
    offset[outlier] = rng.uniform(0, 2 * np.pi, outlier.sum())
    return MeasurementGraph(index, offset, n)


@pytest.mark.parametrize("seed", range(3))
def test_a_second_set_is_found_and_the_edges_it_explains_are_counted(seed: int) -> None:
    graph = mixed(0.5, 0.1, seed)
    found = find_second_set(gnnsync.solve(graph))
    assert found is not None
    assert found.explained == pytest.approx(0.9, abs=0.05)
    assert found.second == pytest.approx(0.45, abs=0.07)
    assert str(found) == f"k = 2 explains {found.explained:.0%} of the edges"
    assert gnnsync.find_second_set is find_second_set


@pytest.mark.parametrize("eta", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_outliers_are_no_second_set(eta: float, seed: int) -> None:
    graph = mixed(0.0, eta, seed)
    assert find_second_set(gnnsync.solve(graph)) is None


def test_trees_and_solutions_of_several_sets_are_not_examined() -> None:
    tree = MeasurementGraph([[0, 1], [1, 2]], [0.1, 0.2], 3)
    assert find_second_set(gnnsync.solve(tree)) is None
    graph = mixed(0.5, 0.1, 0)
    assert find_second_set(gnnsync.solve(graph, k=2)) is None
