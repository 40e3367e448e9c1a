import json

import numpy as np
import pandas as pd
import pytest

from gnnsync.errors import DataFileError
from gnnsync.io.distances.distance_file import as_distances
from gnnsync.io.distances.position_file import (
    check_position_ending,
    write_distance_residuals,
    write_positions,
)
from gnnsync.positions import Positions

NETWORK = as_distances([("a", "b", 3), ("b", "=c", 4), ("a", "=c", 6)])
POSITIONS = Positions(
    points=np.array([[0.0, 0.0], [3.0, 0.0], [np.nan, np.nan]]),
    covariance=np.array([[[4.0, 1.0], [1.0, 1.0]], np.zeros((2, 2)), np.full((2, 2), np.nan)]),
    localizable=np.array([True, True, False]),
    component=np.array([0, 0, 1]),
    edge_confidence=np.array([1.0, 0.25, 0.0]),
)


def test_positions_as_csv(tmp_path):
    write_positions(NETWORK, POSITIONS, tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines() == [
        "name,x,y,deviation_x,deviation_y,correlation,localizable,component",
        "a,0.0,0.0,2.0,1.0,0.5,1,0",
        "b,3.0,0.0,0.0,0.0,,1,0",
        "'=c,,,,,,0,1",
    ]
    write_positions(NETWORK, POSITIONS, tmp_path / "p.csv", keep_names=True)
    assert "\n=c,," in (tmp_path / "p.csv").read_text()


def test_positions_as_json_and_parquet(tmp_path):
    write_positions(NETWORK, POSITIONS, tmp_path / "p.json", summary={"points": 3})
    found = json.loads((tmp_path / "p.json").read_text())
    assert found["summary"] == {"points": 3}
    assert found["name"] == ["a", "b", "=c"]
    assert found["x"] == [0.0, 3.0, None]
    write_positions(NETWORK, POSITIONS, tmp_path / "p.parquet")
    table = pd.read_parquet(tmp_path / "p.parquet")
    assert list(table["name"]) == ["a", "b", "=c"]
    assert table["localizable"].tolist() == [1, 1, 0]


def test_residuals_of_distances(tmp_path):
    write_distance_residuals(NETWORK, POSITIONS, tmp_path / "d.csv")
    assert (tmp_path / "d.csv").read_text().splitlines() == [
        "i,j,distance,residual,confidence",
        "a,b,3.0,0.0,1.0",
        "b,'=c,4.0,,0.25",
        "a,'=c,6.0,,0.0",
    ]


def test_other_endings_are_refused():
    with pytest.raises(DataFileError, match=r"ends in '.npz': must be one of .csv"):
        check_position_ending("x.npz")
