"""Small seeded graphs shared by the tests."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings

from gnnsync import MeasurementGraph

# The same examples in every run, and no time limit that a busy machine could exceed.
settings.register_profile("gnnsync", derandomize=True, deadline=None)
settings.load_profile("gnnsync")

# Fixtures that write folders of results without running any job.
pytest_plugins = ["tests.job_folders"]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def make_multigraph() -> Callable[..., MeasurementGraph]:
    """Random multigraphs with exact offsets: parallel and mutual edges happen freely."""

    def make(
        seed: int, n: int = 12, m: int = 40, weighted: bool = False, connected: bool = False
    ) -> MeasurementGraph:
        rng = np.random.default_rng(seed)
        src = rng.integers(n, size=m)
        dst = (src + rng.integers(1, n, size=m)) % n
        if connected:
            src = np.concatenate([np.arange(n - 1), src])
            dst = np.concatenate([np.arange(1, n), dst])
        angles = rng.uniform(0, 2 * np.pi, n)
        weight = rng.uniform(0.5, 2.0, len(src)) if weighted else None
        index = np.stack([src, dst])
        return MeasurementGraph(index, angles[src] - angles[dst], n, weight=weight, angles=angles)

    return make


@pytest.fixture
def triangle_and_tail() -> MeasurementGraph:
    """Triangle 0-1-2 whose offsets sum to 0.3 along 0 → 1 → 2 → 0, a tail 2-3, and a lone node 4.

    Edge 2 is stored against the walk, as 0 → 2.
    """
    return MeasurementGraph(
        np.array([[0, 1, 0, 2], [1, 2, 2, 3]]), np.array([1.0, 2.0, 2.7, 0.5]), num_nodes=5
    )
