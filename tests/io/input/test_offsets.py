import warnings

import numpy as np
import pytest

import gnnsync
from gnnsync.io.input.offsets import UnitWarning, offset_radians
from gnnsync.units import DEGREES, RADIANS


def test_a_stated_unit_is_converted_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert offset_radians("f", [180.0, -90.0], DEGREES) == pytest.approx([np.pi, -np.pi / 2])
        assert offset_radians("f", [180.0, -90.0], RADIANS).tolist() == [180.0, -90.0]


def test_offsets_that_look_like_degrees_give_a_warning():
    with pytest.warns(UnitWarning, match=r"f: 2 of 3 offsets .* DEGREES.* --degrees .*--radians"):
        assert offset_radians("f", [180.0, -90.0, 1.0], None).tolist() == [180.0, -90.0, 1.0]


@pytest.mark.parametrize("seed", range(5))
def test_radians_within_a_turn_and_a_few_wild_numbers_give_none(seed):
    """Differences of angles of one turn are at most 2π, also rounded; outliers can be anything."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (2, 1000))
    offset = np.round(angles[0] - angles[1], 2)
    offset[:90] = rng.normal(0, 1e4, 90)
    offset[90:100] = 6.29
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        offset_radians("f", offset, None)


@pytest.mark.parametrize("spread", [5.0, 20.0, 100.0])
def test_noise_of_some_degrees_is_enough_to_be_seen(spread):
    offset = np.random.default_rng(0).normal(0, spread, 1000)
    with pytest.warns(UnitWarning):
        offset_radians("f", offset, None)


@pytest.mark.parametrize("ending", ["csv", "npz", "mtx"])
def test_every_format_has_units_and_the_warning(tmp_path, ending):
    graph = gnnsync.MeasurementGraph([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, -3.0], 3)
    path = tmp_path / f"m.{ending}"
    for unit in ("degrees", "turns"):
        gnnsync.write(graph, path, unit=unit)
        assert gnnsync.read(path, unit=unit).offset == pytest.approx(graph.offset)
    gnnsync.write(graph, path, unit="degrees")
    with pytest.warns(UnitWarning, match="3 of 3"):
        gnnsync.read(path)
