"""Sparse matrices in files: every index is checked before a library follows it."""

import numpy as np
import pytest
import scipy.sparse as sp

import gnnsync
from gnnsync.errors import DataFileError
from tests.io.graphs import assert_one_line, named_edges

# 4 nodes, entries (0, 1), (0, 2), (2, 3).
ROWS = {
    "format": np.array(b"csr"),
    "shape": np.array([4, 4]),
    "data": np.array([1.0, 2.0, 3.0]),
    "indices": np.array([1, 2, 3], dtype=np.int32),
    "indptr": np.array([0, 2, 2, 3, 3], dtype=np.int32),
}
ENTRIES = {
    "format": np.array("coo"),
    "shape": np.array([4, 4]),
    "data": np.array([1.0, 2.0, 3.0]),
    "row": np.array([0, 0, 2]),
    "col": np.array([1, 2, 3]),
}


def read_arrays(tmp_path, arrays):
    np.savez(tmp_path / "m.npz", **arrays)
    return gnnsync.read(tmp_path / "m.npz")


def test_formats_agree(tmp_path):
    by_rows = read_arrays(tmp_path, ROWS)
    by_columns = read_arrays(tmp_path, ROWS | {"format": np.array("csc")})
    by_entries = read_arrays(tmp_path, ENTRIES)
    coords = {"coords": np.array([[0, 0, 2], [1, 2, 3]])}
    together = {key: ENTRIES[key] for key in ("format", "shape", "data")} | coords
    assert named_edges(by_rows) == named_edges(by_entries) == [(0, 1), (0, 2), (2, 3)]
    assert named_edges(by_columns) == [(1, 0), (2, 0), (3, 2)]
    assert named_edges(read_arrays(tmp_path, together)) == named_edges(by_entries)


def test_room_behind_the_last_entry_is_left_out(tmp_path):
    spare = {"data": np.array([1.0, 2, 3, 9]), "indices": np.array([1, 2, 3, 0])}
    assert read_arrays(tmp_path, ROWS | spare).num_edges == 3


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize(
    ("indptr", "problem"),
    [
        ([0, 2_000_000_000, -5, 1, 3], "indptr has 2000000000: must be at most 3"),
        ([0, 3, -5, 1, 3], r"indptr\[2\] is -5: must begin with 0 and never decrease"),
        ([0, 2, 1, 3, 3], r"indptr\[2\] is 1"),
        ([1, 2, 2, 3, 3], r"indptr\[0\] is 1"),
        ([0, 2, 2, 3, 300], "indptr has 300"),
        ([0, 2, 3], "indptr has 3 entries: must have 5"),
        ([[0, 2, 2, 3, 3]], "indptr is int64 of shape"),
        ([0.0, 2, 2, 3, 3], "indptr is float64"),
    ],
)
def test_wild_pointers_are_refused(tmp_path, kind, indptr, problem):
    """These crash `csr_array(...).tocoo()`."""
    arrays = ROWS | {"format": np.array(kind), "indptr": np.array(indptr)}
    with pytest.raises(DataFileError, match=problem) as caught:
        read_arrays(tmp_path, arrays)
    assert_one_line(str(caught.value), "m.npz")


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        (ROWS | {"indices": np.array([1, 2, 4])}, "column 4 of a sparse matrix: must be in 0..3"),
        (ROWS | {"indices": np.array([1, -2, 3])}, "column -2"),
        (ROWS | {"indices": np.array([1, 2])}, "indptr has 3: must be at most 2"),
        (ROWS | {"data": np.array([1.0])}, "3 rows and 1 values"),
        (ROWS | {"data": np.array(["a", "b", "c"])}, "data is <U1 of shape"),
        (ROWS | {"shape": np.array([4, 5])}, "must be square"),
        (ROWS | {"shape": np.array([-4, -4])}, "must be square"),
        (ROWS | {"shape": np.array([4])}, "must be two whole numbers"),
        (ROWS | {"shape": np.array([10**12] * 2)}, "declares 1000000000000 nodes for 3"),
        (ROWS | {"format": np.array(["csr", "csc"])}, "must be coo, csr or csc"),
        (ENTRIES | {"row": np.array([0, 0, 2**62])}, "row 4611686018427387904"),
        (
            ENTRIES | {"row": np.array([0, 0, 2**64 - 1], dtype=np.uint64)},
            "row 18446744073709551615",
        ),
        (ENTRIES | {"col": np.array([1, 2])}, "2 columns and 3 values"),
        (ENTRIES | {"coords": np.ones((3, 3), dtype=int)}, r"coords has shape \(3, 3\)"),
    ],
)
def test_other_wrong_arrays_are_refused(tmp_path, arrays, problem):
    with pytest.raises(DataFileError, match=problem) as caught:
        read_arrays(tmp_path, arrays)
    assert_one_line(str(caught.value), "m.npz")


def test_a_matrix_in_memory_is_checked_too():
    matrix = sp.csr_array((ROWS["data"], ROWS["indices"], ROWS["indptr"]), (4, 4))
    matrix.indptr[1:4] = [2_000_000_000, -5, 1]
    with pytest.raises(gnnsync.errors.GraphError, match="adjacency"):
        gnnsync.as_graph(matrix)
