import numpy as np
import pytest
import scipy.sparse as sp

import gnnsync
from gnnsync.errors import DataFileError
from tests.io.graphs import assert_one_line, assert_same, named_edges


def test_npz_keeps_everything(tmp_path, triangle_and_tail):
    graph = triangle_and_tail.replace(
        angles=np.ones((5, 2)), group=np.array([0, 1, -1, 0]), node_names=tuple("abcde")
    )
    gnnsync.write(graph, tmp_path / "g.npz")
    back = gnnsync.read(tmp_path / "g.npz")
    assert_same(graph, back)
    assert np.array_equal(back.angles, graph.angles)
    assert back.node_names == graph.node_names
    assert back.num_nodes == 5


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_sparse_npz_keeps_stored_zeros(tmp_path, layout):
    matrix = sp.coo_array(([0.0, 90.0, 5.0], ([0, 1, 2], [1, 2, 0])), shape=(4, 4))
    sp.save_npz(tmp_path / "m.npz", matrix.asformat(layout))
    graph = gnnsync.read(tmp_path / "m.npz", degrees=True)
    found = dict(zip(named_edges(graph), graph.offset.tolist(), strict=True))
    assert found == pytest.approx({(0, 1): 0, (1, 2): np.pi / 2, (2, 0): np.radians(5)})
    assert graph.num_nodes == 4


def test_dense_npz_and_degrees_before_reduction(tmp_path):
    np.savez(tmp_path / "m.npz", np.array([[0, 350.0], [0, 0]]))
    assert gnnsync.read(tmp_path / "m.npz", degrees=True).offset == pytest.approx(np.radians(350))
    np.savez(tmp_path / "e.npz", edge_index=[[0], [1]], offset=[350.0])
    assert gnnsync.read(tmp_path / "e.npz", degrees=True).offset == pytest.approx(np.radians(350))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("PK\x03\x04 not really", "is not a valid .npz"),
        ("hello", "is not a valid .npz"),
    ],
)
def test_broken_files(read_text, text, problem):
    with pytest.raises(DataFileError, match=problem) as caught:
        read_text(text, "npz")
    assert_one_line(str(caught.value), "file.npz")


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_truncated_npz(tmp_path, make_multigraph, kept):
    gnnsync.write(make_multigraph(0), tmp_path / "g.npz")
    whole = (tmp_path / "g.npz").read_bytes()
    (tmp_path / "g.npz").write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(DataFileError, match=r"g\.npz: is not a valid"):
        gnnsync.read(tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"edge_index": [[0], [0]], "offset": [1.0]}, "self-loop"),
        ({"edge_index": [[0], [1]], "offset": [np.nan]}, "must be finite"),
        ({"edge_index": [[0], [1]], "offset": [1.0, 2.0]}, "shape"),
        ({"edge_index": [["a"], ["b"]], "offset": [1.0]}, "whole numbers"),
        ({"edge_index": [[0], [1]], "offset": ["x"]}, "file.npz"),
        ({"edge_index": np.empty((2, 0)), "offset": []}, "holds no measurements"),
        ({"a": [1.0], "b": [2.0]}, r"holds a \(1,\), b \(1,\): must hold edge_index"),
        ({"a": np.ones((2, 3))}, "must be square"),
        ({"format": "dia", "shape": [2, 2], "data": [1.0]}, "must be coo, csr or csc"),
        ({"format": "coo", "shape": [2, 2], "data": [1.0]}, "row"),
    ],
)
def test_bad_npz_arrays(tmp_path, arrays, problem):
    np.savez(tmp_path / "file.npz", **arrays)
    with pytest.raises(DataFileError, match=problem) as caught:
        gnnsync.read(tmp_path / "file.npz")
    assert "file.npz" in str(caught.value)


def test_no_pickle_is_ever_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    trap = np.array([[Trap()]], dtype=object)
    np.savez(tmp_path / "evil.npz", edge_index=trap, offset=trap)
    with pytest.raises(DataFileError, match="pickled objects, which are not loaded"):
        gnnsync.read(tmp_path / "evil.npz")
    assert not (tmp_path / "sprung").exists()
