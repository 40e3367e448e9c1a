import pytest

import gnnsync
from gnnsync.errors import DataFileError
from tests.io.graphs import assert_one_line, named_edges

MTX = "%%MatrixMarket matrix coordinate real general\n"


def test_skew_symmetric_mtx_is_one_measurement_per_pair(read_text):
    text = "%%MatrixMarket matrix coordinate real skew-symmetric\n% note\n3 3 2\n2 1 0.5\n3 2 0\n"
    graph = read_text(text, "mtx")
    assert named_edges(graph) == [(1, 0), (2, 1)]
    assert graph.offset == pytest.approx([0.5, 0])


def test_scipy_reads_our_mtx(tmp_path, make_multigraph):
    from scipy.io import mmread

    graph = make_multigraph(1, n=30, m=5)
    gnnsync.write(graph, tmp_path / "g.mtx")
    matrix = mmread(tmp_path / "g.mtx").tocoo()
    assert matrix.shape == (30, 30)
    assert sorted(matrix.data) == pytest.approx(sorted(graph.offset))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "does not begin with"),
        ("1 1 1\n", "does not begin with"),
        (MTX, "expected the line of sizes"),
        (MTX + "2 3 1\n1 2 1\n", "line 2: a matrix of 2 × 3: must be square"),
        (MTX + "2 2 1\n1 2 x\n", "line 3: offset 'x' is not a number"),
        (MTX + "2 2 1\n1 2 nan\n", "line 3: offset 'nan' is not finite"),
        (MTX + "2 2 1\n1 3 1\n", "line 3: column '3' is not a number from 1 to 2"),
        (MTX + "2 2 1\n2 2 1\n", r"line 3: entry \(2, 2\) is a self-loop"),
        (MTX + "2 2 2\n1 2 1\n", "1 entries where the line of sizes says 2"),
        (MTX + "2 2 0\n", "holds no measurements"),
        (MTX + f"{10**12} {10**12} 1\n1 2 1\n", "declares 1000000000000 nodes for 1 measurement"),
        (MTX + f"{10**30} {10**30} 1\n1 2 1\n", "expected the line of sizes"),
        (MTX.replace("general", "symmetric"), "'symmetric': must be general"),
        (MTX.replace("real", "complex"), "'complex': must be real"),
    ],
)
def test_errors_state_line_and_field(read_text, text, problem):
    with pytest.raises(DataFileError, match=problem) as caught:
        read_text(text, "mtx")
    assert_one_line(str(caught.value), "file.mtx")
