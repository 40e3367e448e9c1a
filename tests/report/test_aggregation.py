from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gnnsync.report.aggregation import (
    LABEL,
    aggregate,
    data_columns,
    distinct_replicas,
    labelled,
    sweep_names,
)
from gnnsync.report.naming import NOISE


def test_mean_deviation_number_and_line_of_a_point():
    rows = pd.DataFrame(
        {
            "label": ["a", "a", "a", "b"],
            "job_hash": ["1", "1", "2", "3"],
            "mse": [1.0, 2.0, 6.0, np.nan],
            "limit_oracle": [0.0, 0.2, 0.1, 0.5],
        }
    )
    first, second = aggregate(rows, ["label"], ["mse"], {"1": "line one"}).to_dict("records")
    assert (first["mse"], first["mse_n"], first["jobs"]) == (3.0, 3, 2)
    assert first["mse_std"] == pytest.approx(np.std([1, 2, 6]))
    assert first["limit_oracle"] == pytest.approx(0.1)
    assert (first["line"], second["line"]) == ("line one", "")
    assert np.isnan(second["mse"])
    assert second["mse_n"] == 0


def test_budgets_are_in_the_label_where_they_differ():
    rows = pd.DataFrame(
        {
            "variant": ["gnnsync", "gnnsync", "plus", "gpm"],
            "trainer.max_steps": [np.nan, 200, 200, np.nan],
        }
    )
    assert labelled(rows)[LABEL].tolist() == ["gnnsync", "gnnsync max_steps=200", "plus", "gpm"]


def test_old_rows_without_a_variant_go_by_their_method():
    assert labelled(pd.DataFrame({"method": ["gpm"]}))[LABEL].tolist() == ["gpm"]


def test_data_columns_are_the_axes_of_the_paper_and_what_varies():
    rows = pd.DataFrame(
        {
            "data.n": [360, 360],
            "data.inlier_noise": [0.0, 0.1],
            "data.graph": "x",
            "data.k": 1,
            NOISE: [0.1, 0.2],
        }
    )
    assert data_columns(rows) == ["data.k", "data.graph", "data.inlier_noise"]


def test_a_replica_of_several_sweeps_counts_once():
    rows = pd.DataFrame(
        {"sweep": ["b", "a", "a"], "job_hash": "1", "network_seed": [1, 1, 2], "trial": 0}
    )
    assert distinct_replicas(rows)["network_seed"].tolist() == [1, 2]
    assert sweep_names(rows) == ["a", "b"]
    assert sweep_names(rows.drop(columns="sweep")) == []
