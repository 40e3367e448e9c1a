import numpy as np
import pandas as pd
import pytest

from gnnsync.errors import DataFileError, GraphError, ParameterError
from gnnsync.io.distances.anchor_table import with_anchors
from gnnsync.io.distances.distance_file import as_distances

NETWORK = as_distances([("a", "b", 3), ("b", "c", 4), ("a", "c", 5)])
NUMBERED = as_distances([(7, 8, 3), (8, 9, 4)])


def known(network):
    pairs = zip(network.anchor_index.tolist(), network.anchor_place.tolist(), strict=True)
    return {network.name(i): tuple(place) for i, place in pairs}


@pytest.mark.parametrize(
    "text", ["c,1,2\na,0,0.5\n", "name,x,y\nc,1,2\na,0,0.5\n", "c 1 2\na 0 .5"]
)
def test_a_file_of_anchors(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    found = with_anchors(NETWORK, tmp_path / "a.csv")
    assert known(found) == {"c": (1.0, 2.0), "a": (0.0, 0.5)}


def test_the_positions_that_were_written_can_be_anchors(tmp_path):
    (tmp_path / "a.csv").write_text("name,x,y,deviation_x,component\nb,1,2,0.1,0\n")
    assert known(with_anchors(NETWORK, tmp_path / "a.csv")) == {"b": (1.0, 2.0)}


def test_objects_that_hold_anchors(tmp_path):
    table = pd.DataFrame({"point": [9, 7], "x": [1.0, 0.0], "y": [2.0, 3.0]})
    table.to_parquet(tmp_path / "a.parquet")
    array = np.array([[9, 1, 2], [7, 0, 3]])
    for anchors in (table, {9: (1, 2), 7: (0, 3)}, {"9": (1, 2), 7: [0, 3]}, array, array.tolist()):
        assert known(with_anchors(NUMBERED, anchors)) == {9: (1.0, 2.0), 7: (0.0, 3.0)}
    assert known(with_anchors(NUMBERED, tmp_path / "a.parquet")) == {9: (1.0, 2.0), 7: (0.0, 3.0)}
    assert with_anchors(NUMBERED, None) is NUMBERED
    assert known(with_anchors(with_anchors(NUMBERED, table), {})) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("z,0,0\n", "line 1: no distance is to the anchor 'z': correct its name"),
        ("z" * 3000 + ",0,0\n", r"to the anchor 'zz{10,50}\.\.\.': correct its name"),
        (
            "a,0,0\na,1,0\n",
            r"line 2: anchor 'a' is at \(0, 0\) and at \(1, 0\): remove one of them",
        ),
        ("a,0,0\nb,0,0\n", "line 2: anchors 'a' and 'b' are at one place"),
        ("a,0,inf\n", "line 1: y 'inf' is not finite"),
        ("a,0\n", "line 1: 2 fields"),
        ("", "holds no anchors: give lines name,x,y"),
    ],
)
def test_a_wrong_file_is_answered_by_one_line(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataFileError, match=message):
        with_anchors(NETWORK, tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("anchors", "error", "message"),
    [
        ({"z": (0, 0)}, GraphError, "no distance is to the anchor 'z'"),
        ({"a": 3}, ParameterError, r"must be two numbers \(x, y\) for a"),
        ({"a": (0, np.nan)}, GraphError, "y of row 0 is nan"),
        (3, ParameterError, "must be a file name, a dictionary"),
    ],
)
def test_wrong_objects_are_refused(anchors, error, message):
    with pytest.raises(error, match=message):
        with_anchors(NETWORK, anchors)


def test_the_same_anchor_twice_at_one_place_is_one():
    table = pd.DataFrame({"name": ["a", "a"], "x": [1.0, 1.0], "y": [2.0, 2.0]})
    assert known(with_anchors(NETWORK, table)) == {"a": (1.0, 2.0)}
