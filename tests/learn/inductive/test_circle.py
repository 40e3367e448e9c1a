import math

import pytest
import torch

from gnnsync.learn.inductive.circle import Circle

BINS = 32


@pytest.fixture
def circle():
    return Circle(BINS)


@pytest.fixture
def bumps(circle):
    """Smooth densities of several widths around 0, as probabilities of the bins."""
    return torch.softmax(circle.bump(torch.tensor([0.5, 2.0, 8.0])), dim=-1)


def test_densities_survive_the_way_to_harmonics_and_back(circle, bumps):
    back = circle.density(circle.harmonics(bumps), torch.ones(BINS // 2))
    torch.testing.assert_close(back, bumps * BINS, atol=1e-5, rtol=0)


@pytest.mark.parametrize("steps", [0, 1, 5, -7])
def test_turning_by_whole_bins_rolls_the_bins(circle, bumps, steps):
    angle = torch.full((3, 1), 2 * math.pi * steps / BINS)
    forward, back = circle.turns(angle)
    moved = circle.harmonics(bumps) * forward[:, 0]
    found = circle.density(moved, torch.ones(BINS // 2))
    torch.testing.assert_close(found, bumps.roll(steps, -1) * BINS, atol=1e-5, rtol=0)
    torch.testing.assert_close(moved * back[:, 0], circle.harmonics(bumps))


def test_blur_is_that_of_wrapped_normal_noise(circle):
    sigma = 0.5
    point = torch.ones(BINS // 2, dtype=torch.complex64)
    found = circle.density(point, circle.blur(torch.tensor(sigma**2)))
    turns = 2 * math.pi * torch.arange(-3, 4)[:, None]
    normal = torch.exp(-0.5 * ((circle.grid + turns) / sigma) ** 2).sum(0)
    expected = normal * math.sqrt(2 * math.pi) / sigma
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_the_mean_of_a_product_of_densities(circle, bumps):
    one, two = bumps, bumps.roll(3, -1)
    found = 1 + circle.product(circle.harmonics(one), circle.harmonics(two)).sum(-1)
    expected = (one * two).sum(-1) * BINS
    torch.testing.assert_close(found, expected)


def test_the_mean_direction_turns_with_the_density(circle, bumps):
    mean = circle.mean_direction(bumps.roll(4, -1))
    torch.testing.assert_close(mean.angle(), torch.full((3,), math.pi / 4))
    assert (mean.abs().diff() > 0).all()
