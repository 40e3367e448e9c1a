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


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_one_line_per_variant_with_means_and_a_band():
    figure = comparison_figure(rows())
    (axes,) = figure.axes
    assert legend(figure) == ["GNNSync", "Spectral", "limit: oracle to certifiable"]
    curves = axes.lines
    assert {line.get_linestyle() for line in curves} == {"--", "-"}
    for line in curves:
        assert np.allclose(line.get_xdata(), [0.1, 0.5, 0.9])
        assert np.allclose(line.get_ydata(), [0.115, 0.515, 0.915])
    assert figure.get_suptitle() == "p = 0.1"


def test_panels_by_what_varies_in_rows_of_four():
    several = pd.concat(
        [rows(**{"data.p": p, "data.n": n}) for p in (0.1, 0.2, 0.3) for n in (5, 9)]
    )
    axes = comparison_figure(several).axes
    assert [a.get_title() for a in axes][:2] == ["p = 0.1, n = 5", "p = 0.1, n = 9"]
    assert [a.get_visible() for a in axes] == [True] * 6 + [False] * 2


def test_unknown_limits_leave_the_band_out():
    figure = comparison_figure(rows().drop(columns=["limit_oracle"]))
    assert legend(figure) == ["GNNSync", "Spectral"]


def test_varies():
    assert varies(rows())
    assert not varies(rows(**{"data.eta": 0.3}))
    assert not varies(rows().drop(columns=["mse"]))
