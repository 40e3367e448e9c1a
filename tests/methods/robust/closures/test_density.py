"""Density of the wrapped normal law against a plain sum over turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnnsync.methods.robust.closures.density import posterior, relative_density


@given(r=st.floats(-np.pi, np.pi), variance=st.floats(1e-4, 50.0))
def test_relative_density_is_a_sum_over_turns(r: float, variance: float) -> None:
    turns = 2.0 * np.pi * np.arange(-40, 41)
    density = np.exp(-((r + turns) ** 2) / (2.0 * variance)).sum() * np.sqrt(2 * np.pi / variance)
    found = relative_density(np.array([r]), np.array([variance]))[0]
    assert found == pytest.approx(density, rel=2e-3, abs=1e-3)


def test_posterior_is_even_where_odds_are_even() -> None:
    assert posterior(np.array([1.0, 3.0]), 0.25) == pytest.approx([0.75, 0.9])
