from __future__ import annotations

import pandas as pd

from gnnsync.report.naming import fact, in_paper_order, value_text, values_in_order


def test_order_and_names_of_the_paper():
    assert in_paper_order(["zeta", "trivial", "gnnsync tau=0.1", "spectral", "gnnsync"]) == [
        "gnnsync",
        "gnnsync tau=0.1",
        "spectral",
        "trivial",
        "zeta",
    ]
    graphs = pd.Series(["own", "random_geometric", "erdos_renyi"])
    assert values_in_order("data.graph", graphs) == ["erdos_renyi", "random_geometric", "own"]
    assert fact("data.graph", "erdos_renyi") == "ERO"
    assert fact("data.p", 0.05) == "p = 0.05"
    assert fact("data.angles", "GammaAngles") == "prior 1: gamma"


def test_missing_values_are_a_dash():
    assert value_text("data.n", None) == "–"
    assert value_text("data.n", float("nan")) == "–"
    assert value_text("data.n", pd.NA) == "–"
    assert value_text("data.n", 360) == "360"
