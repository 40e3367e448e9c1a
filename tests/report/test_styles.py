from __future__ import annotations

import re

import numpy as np
import pytest

from gnnsync.report.styles import marker_path, styles


def test_learned_methods_are_dashed_and_come_first():
    found = styles(["spectral", "gnnsync tau=0.1", "gpm", "spectral"])
    assert list(found) == ["gnnsync tau=0.1", "spectral", "gpm"]
    assert [style.dashed for style in found.values()] == [True, False, False]


def test_many_variants_differ_in_colour_or_marker():
    found = styles([f"method{i}" for i in range(40)])
    assert len({(style.colour, style.marker) for style in found.values()}) == 40


@pytest.mark.parametrize(
    ("marker", "corners"), [("s", 4), ("^", 3), ("D", 4), ("p", 5), ("h", 6), ("X", 12)]
)
def test_a_marker_of_the_figures_is_a_path_of_the_page(marker, corners):
    path = marker_path(marker)
    assert re.fullmatch(r"M[^MZ]+Z", path)
    points = {tuple(map(float, pair)) for pair in re.findall(r"(-?\d\.\d+) (-?\d\.\d+)", path)}
    assert len(points) == corners
    assert np.abs(list(points)).max() < 0.75


def test_up_is_up_in_the_page():
    first = re.match(r"M(-?[\d.]+) (-?[\d.]+)", marker_path("^"))
    assert float(first.group(2)) == -0.5


def test_a_circle_is_made_of_curves():
    assert set(re.findall("[A-Z]", marker_path("o"))) == {"M", "C", "Z"}
