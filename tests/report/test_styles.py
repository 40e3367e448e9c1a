from __future__ import annotations

from gnnsync.report.styles import styles


def test_learned_methods_are_dashed_and_come_first():
    found = styles(["spectral", "gnnsync tau=0.1", "gpm", "spectral"])
    assert list(found) == ["gnnsync tau=0.1", "spectral", "gpm"]
    assert [style.dashed for style in found.values()] == [True, False, False]


def test_many_variants_differ_in_colour_or_marker():
    found = styles([f"method{i}" for i in range(40)])
    assert len({(style.colour, style.marker) for style in found.values()}) == 40
