import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gnnsync.errors import DataFileError, GraphError, ParameterError
from gnnsync.io.distances.distance_file import as_distances, read_distances

TRIANGLE = "a,b,3\nb,c,4\na,c,5\n"


@pytest.fixture
def read_text(tmp_path):
    def read(text, ending="csv", **options):
        path = tmp_path / f"file.{ending}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_distances(path, **options)

    return read


def edges(network):
    ends = ((network.name(i), network.name(j)) for i, j in network.pairs.T.tolist())
    return dict(zip(ends, network.distance.tolist(), strict=True))


FOUND = {("a", "b"): 3.0, ("b", "c"): 4.0, ("a", "c"): 5.0}


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        (TRIANGLE, "csv"),
        ("i,j,distance\n" + TRIANGLE, "csv"),
        ("from;to;range\na;b;3,0\nb;c;4,0\na;c;5,0\n", "csv"),
        ("# a comment\na b 3\n\nb c 4\na c 5\n", "txt"),
        (TRIANGLE.replace(",", "\t"), "tsv"),
        ("distance,note,i,j\n3,x,a,b\n4,,b,c\n5,,a,c\n", "csv"),
        (gzip.compress(TRIANGLE.encode(), mtime=0), "csv.gz"),
        (TRIANGLE.encode("utf-16"), "csv"),
    ],
)
def test_tables_of_distances(read_text, text, ending):
    network = read_text(text, ending)
    assert edges(network) == FOUND
    assert network.deviation is None


def test_a_fourth_column_holds_the_deviation(read_text):
    network = read_text("1,2,3.5,0.1\n2,7,4.25,0.2\n")
    assert network.names == (1, 2, 7)
    assert network.deviation.tolist() == [0.1, 0.2]


def test_columns_are_named_by_the_user(read_text):
    network = read_text(
        "p,q,metres\na,b,3\nb,c,4\na,c,5\n", columns={"i": "p", "j": "q", "distance": "metres"}
    )
    assert edges(network) == FOUND


def test_a_parquet_file_is_read(tmp_path):
    table = pd.DataFrame(
        [("a", "b", 3.0, 1.0), ("b", "c", 4.0, 2.0)], columns=["i", "j", "dist", "sigma"]
    )
    table.to_parquet(tmp_path / "d.parquet")
    network = read_distances(tmp_path / "d.parquet")
    assert edges(network) == {("a", "b"): 3.0, ("b", "c"): 4.0}
    assert network.deviation.tolist() == [1.0, 2.0]


def test_repeated_distances_are_merged_by_their_weights(read_text, caplog):
    assert edges(read_text(TRIANGLE + "c,b,5\n"))["b", "c"] == 4.5
    network = read_text("a,b,10,1\nb,a,13,0.5\nb,c,2,1\n")
    assert network.distance[0] == pytest.approx((10 + 4 * 13) / 5)
    assert network.deviation[0] == pytest.approx(5**-0.5)
    assert not caplog.records
    read_text(TRIANGLE + "c,b,50\n")
    assert "distances of 1 pairs contradict each other, b - c most (4 to 50)" in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,-3\n", r"line 1: distance -3 must be greater than 0: correct it"),
        ("a,b,3\nb,c,0\n", r"line 2: distance 0 must be greater than 0: .*one place are one point"),
        ("a,b,3\nb,b,1\n", r"line 2: i and j are both 'b': remove the self-loop"),
        ("a,b,3\nb,c,nan\n", r"line 2: distance 'nan' is not finite"),
        ("a,b,3\nb,c,far\n", r"line 2: distance 'far' is not a number"),
        ("a,b,3,1\nb,c,1,0\n", r"line 2: sigma 0 must be greater than 0: correct it, or leave out"),
        ("a,b\n", r"line 1: 2 fields and no header: must be i, j, distance\[, sigma\]"),
        ("", "holds no distances: give lines i,j,distance"),
        ("i,j,metres\na,b,3\n", r"missing column 'distance' .*--columns distance=TITLE"),
        ("a,b,1e300\nb,c,2e300\n", "must be at most"),
    ],
)
def test_a_wrong_file_is_answered_by_one_line(read_text, text, message):
    with pytest.raises(DataFileError, match=message) as caught:
        read_text(text)
    assert "\n" not in str(caught.value)


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(DataFileError, match="is g2o: distances are read from csv, tsv, parquet"):
        read_distances(tmp_path / "x.g2o")
    with pytest.raises(ParameterError, match="columns"):
        read_distances(tmp_path / "x.csv", columns={"src": "a"})


def test_commas_that_may_be_decimal_are_named(read_text):
    with pytest.warns(
        UserWarning, match="READ AS DISTANCE AND SIGMA.*--columns i=1,j=2,distance=3"
    ):
        read_text("a,b,1,5\nb,c,2,4\n")


OBJECTS = [
    pd.DataFrame(
        [("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 5.0)], columns=["i", "j", "distance"]
    ),
    {"i": ["a", "b", "a"], "j": ["b", "c", "c"], "range": [3, 4, 5]},
    (["a", "b", "a"], ["b", "c", "c"], [3, 4, 5]),
    [("a", "b", 3), ("b", "c", 4), ("a", "c", 5)],
]


@pytest.mark.parametrize("data", OBJECTS, ids=lambda data: type(data).__name__)
def test_objects_that_hold_distances(data):
    network = as_distances(data, {"a": (0, 0)})
    assert edges(network) == FOUND
    assert network.anchor_index.tolist() == [0]
    assert as_distances(network) is network


def test_numbers_of_points_in_arrays_and_matrices():
    rows = np.array([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 5.0)])
    found = {(0, 1): 3.0, (1, 2): 4.0, (0, 2): 5.0}
    assert edges(as_distances(rows)) == found
    i, j, distance = rows.T
    matrix = sp.coo_array((distance, (i.astype(int), j.astype(int))), (4, 4))
    assert edges(as_distances(matrix)) == found
    assert as_distances(matrix).num_points == 4
    both = as_distances(matrix.tocsr() + matrix.tocsr().T)
    assert edges(both) == found


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (3, ParameterError, "distances = 3: must be a DistanceNetwork, a file name"),
        (np.zeros((3, 2)), GraphError, r"shape \(3, 2\)"),
        (
            (["a"], ["b"]),
            GraphError,
            r"a tuple of 2: must be columns \(i, j, distance\[, sigma\]\)",
        ),
        ([("a", "b", -1.0)], GraphError, r"distance\[0\] \(a - b\) is -1: must be positive"),
        ([("a", "a", 1.0)], GraphError, "joins point 'a' to itself"),
    ],
)
def test_other_objects_are_refused(data, error, message):
    with pytest.raises(error, match=message):
        as_distances(data)
