import numpy as np
import pytest

from gnnsync.errors import ParameterError
from gnnsync.units import DEGREES, RADIANS, TURNS, UNITS, find_unit, in_unit, input_unit


@pytest.mark.parametrize(
    ("unit", "half"), [(RADIANS, np.pi), (DEGREES, 180.0), (TURNS, 0.5)], ids=str
)
def test_conversion_there_and_back(unit, half):
    assert unit.from_radians(np.pi) == pytest.approx(half, rel=1e-15)
    assert unit.to_radians(half) == pytest.approx(np.pi, rel=1e-15)
    values = np.random.default_rng(0).uniform(-7, 7, 100)
    assert unit.to_radians(unit.from_radians(values)) == pytest.approx(values, rel=1e-14)


def test_radians_stay_as_they_are_to_the_bit():
    values = np.random.default_rng(1).uniform(-7, 7, 1000)
    assert np.array_equal(RADIANS.to_radians(values), values)
    assert np.array_equal(RADIANS.angles(values), values)


def test_whole_degrees_come_back_whole():
    degrees = np.arange(0.0, 360.0)
    assert np.array_equal(DEGREES.angles(DEGREES.to_radians(degrees)), degrees)
    assert not np.array_equal(DEGREES.from_radians(DEGREES.to_radians(degrees)), degrees)
    tenths = np.arange(10) / 10
    assert np.array_equal(TURNS.angles(TURNS.to_radians(tenths)), tenths)


def test_angles_stay_below_a_turn():
    last = np.nextafter(2 * np.pi, 0.0)
    assert DEGREES.angles([last, 0.0]).tolist() == [0.0, 0.0]


def test_text():
    assert RADIANS.format(0.01234) == "0.0123 rad"
    assert DEGREES.format(np.pi / 2) == "90°"
    assert TURNS.format(np.pi, 2) == "0.5 turns"


def test_names():
    assert set(UNITS) == {"radians", "degrees", "turns"}
    assert find_unit("turns") is TURNS
    assert find_unit(DEGREES) is DEGREES
    with pytest.raises(ParameterError, match="unit = 'grad': must be one of radians, degrees"):
        find_unit("grad")


def test_degrees_is_an_older_word_for_the_unit():
    assert input_unit(None) is None
    assert input_unit("degrees") is input_unit(None, True) is input_unit("degrees", True) is DEGREES
    with pytest.raises(ParameterError, match="degrees = True: must be left out with unit='turns'"):
        input_unit("turns", True)
    with pytest.raises(ParameterError, match="degrees = 'yes'"):
        input_unit(None, "yes")


def test_figures_are_converted_at_any_depth_and_others_are_not():
    figures = {
        "edges": 3,
        "noise": np.pi,
        "unknown": None,
        "quantiles": {"0.5": 0.0, "0.9": np.pi / 2},
        "worst": [{"edge": 7, "residual": -np.pi}],
        "unit": "radians",
    }
    names = ("noise", "quantiles", "residual", "unknown")
    assert in_unit(figures, DEGREES, names) == {
        "edges": 3,
        "noise": 180.0,
        "unknown": None,
        "quantiles": {"0.5": 0.0, "0.9": 90.0},
        "worst": [{"edge": 7, "residual": -180.0}],
        "unit": "degrees",
    }
