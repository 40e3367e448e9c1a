from __future__ import annotations

import pytest

from gnnsync.report.aggregation import LABEL, distinct_replicas
from gnnsync.report.comparison import comparison_figure
from gnnsync.report.figures import drawings
from gnnsync.report.page import page_data
from gnnsync.report.references import with_references
from gnnsync.report.tables import tables
from gnnsync.results.collect import collect


def learned(results, **own):
    return results(method="gnnsync", loss="upset", **own)


def test_the_untrained_network_is_a_column_beside_the_trained_one(results, tmp_path):
    learned(results, mse=[0.1, 0.3], mse_untrained=0.4)
    results(method="spectral", mse=[0.5, 0.5])
    (table,) = tables(collect([tmp_path]).rows)
    assert table.head[1:] == ["GNNSync", "GNNSync untrained", "Spectral"]
    assert "| 0.4 | **0.200 ± 0.100** | <ins>0.400 ± 0.000</ins> |" in table.markdown()


def test_losses_share_their_untrained_network(results, tmp_path):
    for loss in ("cycle", "upset"):
        own = {"variant": f"gnnsync loss={loss}", "mse": [0.1, 0.3]}
        learned(results, **own, mse_untrained=0.4)
    rows = with_references(collect([tmp_path]).rows)
    assert list(rows[LABEL].unique()) == [
        "gnnsync loss=cycle",
        "gnnsync loss=upset",
        "gnnsync untrained",
    ]
    own = rows[rows[LABEL] == "gnnsync untrained"]
    assert list(own["mse"]) == [0.4, 0.4]
    assert own["mse_untrained"].isna().all(), "only its own metric"
    assert with_references(rows) is rows


def test_other_starts_have_untrained_networks_of_their_own_up_to_three(results, tmp_path):
    for number in range(4):
        rows = with_references(collect([tmp_path]).rows) if number else None
        if rows is not None:
            assert rows[LABEL].str.endswith("untrained").sum() == number
        learned(
            results, variant=f"gnnsync features={number}", mse=[0.1], mse_untrained=float(number)
        )
    assert not with_references(collect([tmp_path]).rows)[LABEL].str.endswith("untrained").any()


def test_agreement_of_sets_beside_that_of_the_truth(results, tmp_path):
    for trial in (0, 1):
        own = {"data.k": 3, "set_agreement_true": 0.2, "set_agreement": 0.9, "trial": trial}
        results(method="spectral", mse=[0.5], **own)
    results(method="gpm", mse=[0.5], **(own | {"set_agreement": 0.3}))
    found = {table.name: table for table in tables(collect([tmp_path]).rows)}
    table = found["set_agreement_k3_ERO"]
    assert table.head[1:] == ["Spectral", "GPM", "truth"]
    assert table.markdown().splitlines()[-1] == (
        "| 0.4 | 0.900 ± 0.000 | 0.300 ± 0.000 | 0.200 ± 0.000 |"
    ), "less is not better: nothing is marked"
    assert "truth" not in found["mse_k3_ERO"].head


def test_figures_and_page_have_them(results, tmp_path):
    for eta in (0.2, 0.4):
        own = {"data.k": 3, "data.eta": eta, "set_agreement_true": 0.2, "set_agreement": 0.9}
        learned(results, mse=[0.1], mse_untrained=0.4, **own)
    collection = collect([tmp_path])
    found = {drawing.name: drawing for drawing in drawings(collection.rows)}
    assert set(found["mse_k3"].points[LABEL]) == {"gnnsync", "gnnsync untrained"}
    assert set(found["set_agreement_k3"].points[LABEL]) == {"gnnsync", "truth"}
    for drawing in found.values():
        drawing.figure()
    comparison_figure(collection.rows)
    labels = [variant["label"] for variant in page_data(collection)["variants"]]
    assert labels == ["GNNSync", "GNNSync untrained", "truth"]


def test_references_are_kept_beside_their_own_job(results, tmp_path):
    learned(results, mse=[0.1], mse_untrained=0.4)
    rows = distinct_replicas(with_references(collect([tmp_path]).rows))
    assert list(rows["mse"]) == pytest.approx([0.1, 0.4])


def test_losses_share_their_untrained_network_on_data_that_lack_columns(results, tmp_path):
    for loss in ("cycle", "upset"):
        for data in ({}, {"data.graph": "us_cities", "data.p": None, "data.n": None}):
            own = {"variant": f"gnnsync loss={loss}", "mse": [0.1], **data}
            learned(results, **own, mse_untrained=0.4)
    rows = with_references(collect([tmp_path]).rows)
    own = rows[rows[LABEL] == "gnnsync untrained"]
    assert sorted(own["data.graph"]) == ["erdos_renyi", "us_cities"]
    assert comparison_figure(collect([tmp_path]).rows) is not None
