from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gnnsync.report.panels import Curves, draw_panels, layout, literal
from gnnsync.report.styles import styles

GRAPH, DENSITY, PRIOR = "data.graph", "data.p", "data.angles"
CURVES = Curves("x", "y", "line", "across", "up")


def points(**changes) -> pd.DataFrame:
    return pd.DataFrame({"x": [0.0, 1.0], "y": [1.0, 3.0], "y_std": 0.5, "line": "gpm"} | changes)


@pytest.mark.parametrize(
    ("varying", "expected"),
    [
        ([], (None, None, [])),
        ([PRIOR], (None, PRIOR, [])),
        ([GRAPH, PRIOR], (GRAPH, PRIOR, [])),
        ([GRAPH, DENSITY], (DENSITY, GRAPH, [])),
        ([GRAPH, DENSITY, PRIOR], (DENSITY, PRIOR, [GRAPH])),
    ],
)
def test_layout(varying, expected):
    columns = {name: ["a", "b" if name in varying else "a"] for name in (GRAPH, DENSITY, PRIOR)}
    assert layout(pd.DataFrame(columns)) == expected


def test_all_panels_have_the_same_limits_that_hold_every_error_bar():
    panels = [
        [("one", points()), ("two", points(y=[-2.0, 5.0]))],
        [("three", points(x=[2.0, 4.0]))],
    ]
    figure = draw_panels(panels, CURVES, styles(["gpm"]), "heading")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 3
    assert len({(*axes.get_xlim(), *axes.get_ylim()) for axes in shown}) == 1
    low, high = shown[0].get_ylim()
    assert low < -2.5
    assert high > 5.5
    assert shown[0].get_xlim()[1] > 4.0
    assert figure.get_suptitle() == "heading"


def test_the_limit_band_is_drawn_only_if_both_limits_are_known():
    curves = Curves("x", "y", "line", "across", "up", band=True)
    limits = {"limit_oracle": 0.0, "limit_certifiable": [0.1, 0.2]}
    for columns, entries in [(limits, 2), ({"limit_oracle": 0.0}, 1)]:
        figure = draw_panels([[("", points(**columns))]], curves, styles(["gpm"]))
        assert len(figure.legends[0].get_texts()) == entries


def test_dollars_are_no_mathematics():
    assert literal("a$b$") == r"a\$b\$"
    panel = points(line="$x_$")
    draw_panels([[("$", panel)]], CURVES, styles(["$x_$"]), "$").canvas.draw()
    assert np.isfinite(panel["y"]).all()
