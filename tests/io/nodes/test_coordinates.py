import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.errors import DataFileError
from gnnsync.io.nodes.coordinates import read_coordinates

GRAPH = MeasurementGraph(np.array([[0, 1], [1, 2]]), np.zeros(2), 3, node_names=["a", "b", "c"])


def test_places_by_name(tmp_path):
    path = tmp_path / "places.csv"
    path.write_text("# map\nnode,x,y\nb,1,2\nz,9,9\na,-3.5,0\n")
    places = read_coordinates(path, GRAPH)
    np.testing.assert_array_equal(places, [[-3.5, 0], [1, 2], [np.nan, np.nan]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,1\n", "line 1: 2 fields: must be node and 2 coordinates"),
        ("a,1,x\n", "line 1: coordinate"),
        ("a,1,2\na,1,3\n", "line 2: another place of 'a'"),
        ("z,1,2\n", "none of the nodes"),
        ("node,x,y\n", "holds no coordinate"),
    ],
)
def test_bad_files_are_named(tmp_path, text, words):
    path = tmp_path / "places.csv"
    path.write_text(text)
    with pytest.raises(DataFileError) as error:
        read_coordinates(path, GRAPH)
    assert words in str(error.value)
