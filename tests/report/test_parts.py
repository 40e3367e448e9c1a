from __future__ import annotations

import pandas as pd
import pytest

from gnnsync.report.parts import file_name, parts


def rows(**columns) -> pd.DataFrame:
    cell = {"data.k": [1, 1], "data.graph": "erdos_renyi", "data.p": 0.1, "data.n": 360}
    return pd.DataFrame(cell).assign(**columns)


def test_graph_density_and_prior_share_a_figure():
    ((name, heading, part),) = parts("mse", rows(**{"data.p": [0.1, 0.2]}))
    assert (name, len(part)) == ("mse_k1", 2)
    assert heading == "k = 1, ERO, n = 360"


def test_other_data_are_in_different_figures_with_the_value_in_the_name():
    found = {name: heading for name, heading, _ in parts("mse", rows(**{"data.n": [10, 20]}))}
    assert found == {
        "mse_k1_n10": "k = 1, ERO, p = 0.1, n = 10",
        "mse_k1_n20": "k = 1, ERO, p = 0.1, n = 20",
    }


def test_columns_named_apart_split_too():
    table = rows(**{"data.graph": ["erdos_renyi", "own"]})
    assert [name for name, _, _ in parts("mse", table, apart=["data.graph"])] == [
        "mse_k1_ERO",
        "mse_k1_own",
    ]


def test_no_rows_make_no_figure():
    assert list(parts("mse", rows().iloc[:0])) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("p = 0.1", "p_0.1"),
        ("../a/b", "_a_b"),
        (".hidden", "hidden"),
        ("", "_"),
        ("é" * 99, "é" * 60),
    ],
)
def test_file_names_are_short_and_stay_in_their_folder(text, name):
    assert file_name(text) == name
