"""Messages on the circle."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.methods import (
    SpectralRN,
)
from gnnsync.methods.robust.belief.messages import Messages, point_estimates
from tests.methods.networks import synthetic


@pytest.mark.parametrize("weighted", [False, True])
def test_messages_on_a_tree_are_exact(weighted):
    """On a path of three nodes the marginals follow by summing over the bins."""
    weight = np.array([1.0, 4.0]) if weighted else None
    graph = MeasurementGraph([[0, 2], [1, 1]], [0.7, 5.9], 3, weight=weight)
    bins, sigma, share = 64, 0.4, np.array([0.6])
    messages = Messages(graph, np.zeros((3, 1)), share, sigma, bins)
    grid = 2 * np.pi * np.arange(bins) / bins
    prior = 1.0 + 0.8 * np.cos(grid - 1.0)
    messages.start(np.zeros((3, 1)))
    messages.set_prior([prior])
    for _ in range(60):
        messages.sweep()

    def factor(offset, scale):
        delta = grid[:, None] - grid[None, :] - offset
        wrapped = sum(np.exp(-0.5 * ((delta + 2 * np.pi * t) / scale) ** 2) for t in range(-4, 5))
        return 0.4 / (2 * np.pi) + 0.6 * wrapped / (scale * np.sqrt(2 * np.pi))

    scales = sigma / np.sqrt(weight / weight.mean()) if weighted else np.full(2, sigma)
    joint = np.einsum(
        "a,b,c,ab,cb->abc", prior, prior, prior, factor(0.7, scales[0]), factor(5.9, scales[1])
    )
    joint /= joint.sum()
    expected = [joint.sum(axis=(1, 2)), joint.sum(axis=(0, 2)), joint.sum(axis=(0, 1))]
    assert np.abs(messages.marginals()[:, 0] - expected).max() < 1e-5


def test_refining_bins_keeps_the_estimate():
    graph = synthetic(0.3, 0.2)
    start = SpectralRN()(graph).angles
    messages = Messages(graph, start, np.array([0.6]), 0.3, 32)
    messages.start(np.full(start.shape, 2.0))
    for _ in range(10):
        messages.sweep()
    before = point_estimates(messages.marginals(), start)[1]
    messages.refine_bins()
    after = point_estimates(messages.marginals(), start)[1]
    assert np.abs(wrap(after - before)).max() < 0.1
