"""Periodogram peaks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnnsync.errors import ParameterError
from gnnsync.methods import PPE
from gnnsync.methods.ppe import periodogram_peak


@given(st.floats(0, 6.28), st.integers(1, 10))
def test_peak_of_a_pure_tone(angle, frequencies):
    coefficient = np.exp(1j * angle * np.arange(1, frequencies + 1))[None]
    found = periodogram_peak(coefficient, 8 * frequencies)
    assert abs(np.exp(1j * found[0]) - np.exp(1j * angle)) < 1e-7


def test_peak_is_the_maximum_of_the_periodogram(rng):
    coefficient = rng.standard_normal((50, 12)).view(complex)
    phi = periodogram_peak(coefficient, 48)

    def height(angle):
        return (coefficient * np.exp(-1j * angle[:, None] * np.arange(1, 7))).real.sum(axis=1)

    fine = np.max([height(np.full(50, a)) for a in np.linspace(0, 2 * np.pi, 2000)], axis=0)
    assert (height(phi) >= fine - 1e-3 * np.abs(coefficient).sum(axis=1)).mean() > 0.95


@pytest.mark.parametrize(("field", "value"), [("frequencies", 0), ("grid", 1)])
def test_parameters_out_of_range(field, value):
    with pytest.raises(ParameterError, match=field):
        PPE(**{field: value})
