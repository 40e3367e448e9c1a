from __future__ import annotations

import numpy as np
import pandas as pd

from gnnsync.report.comparison import comparison_figure, varies


def rows(**changes) -> pd.DataFrame:
    table = [
        {
            "variant": variant,
            "data.eta": eta,
            "data.p": 0.1,
            "data.n": 360,
            "network_seed": seed,
            "mse": eta + 0.01 * seed,
            "limit_oracle": 0.0,
            "limit_certifiable": eta / 10,
        }
        for variant in ("spectral", "gnnsync")
        for eta in (0.1, 0.5, 0.9)
        for seed in (1, 2)
    ]
    return pd.DataFrame(table).assign(**changes)


def test_one_line_per_method_with_means_and_a_band():
    figure = comparison_figure(rows())
    (axes,) = figure.axes
    handles, labels = axes.get_legend_handles_labels()
    assert labels == ["limit: oracle to certifiable", "gnnsync", "spectral"]
    line = handles[1].lines[0]
    assert np.allclose(line.get_xdata(), [0.1, 0.5, 0.9])
    assert np.allclose(line.get_ydata(), [0.115, 0.515, 0.915])
    assert line.get_linestyle() == "--"
    assert handles[2].lines[0].get_linestyle() == "-"
    assert "p = 0.1" in figure.get_suptitle()


def test_panels_by_what_varies():
    both = pd.concat([rows(), rows(**{"data.p": 0.2}), rows(**{"data.p": 0.3})])
    titles = [axes.get_title() for axes in comparison_figure(both).axes]
    assert titles == ["p = 0.1", "p = 0.2", "p = 0.3"]


def test_unknown_limits_leave_the_band_out():
    figure = comparison_figure(rows().drop(columns=["limit_oracle"]))
    assert figure.axes[0].get_legend_handles_labels()[1] == ["gnnsync", "spectral"]


def test_varies():
    assert varies(rows())
    assert not varies(rows(**{"data.eta": 0.3}))
    assert not varies(rows().drop(columns=["mse"]))
