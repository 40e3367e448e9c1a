"""Located points beside the references and the peers."""

import json

import pytest

from benchmarks.localization import KEYS, measure, read_rows, table


@pytest.fixture
def rows(tmp_path):
    """One measured row, and a made one of the same cell, in parts."""
    cell = dict(zip(KEYS, ("small", 12.0, 0.1, 0.1, 10), strict=True))
    first = cell | measure(cell, ["", "mds_map"])
    second = first | {"seed": 20, "rmse": 3.0 * first["rmse"]}
    del second["rmse_mds_map"]
    late = cell | {"seed": 20, "rmse_mds_map": first["rmse_mds_map"]}
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (first, second, late)))
    return read_rows(path)


def test_a_table_of_pooled_errors(rows):
    assert len(rows) == 2
    row = rows[0]
    assert 0.0 < row["rmse_limit"] <= row["rmse_from_truth_clean"] * 2.0
    head, _, line = (text.strip("| ").split(" | ") for text in table(rows).splitlines())
    shown = dict(zip(head, line, strict=True))
    assert (shown["map"], shown["draws"], shown["gross errors"]) == ("small", "2", "0.1")
    pooled = row["rmse"] * 5.0**0.5  # of 1 and 3
    assert float(shown["ratio"]) == pytest.approx(pooled / row["rmse_from_truth_clean"], abs=1e-3)
    assert float(shown["mds_map"]) == pytest.approx(
        row["rmse_mds_map"] / row["rmse_from_truth_clean"], abs=1e-3
    )
    assert shown["SMACOF, s"] == "–"
