import numpy as np
import pytest

from gnnsync.errors import DataFileError
from gnnsync.io.nodes.points import read_points


def test_csv_with_and_without_a_header(tmp_path):
    for head in ("", "x,y\n"):
        path = tmp_path / "a.csv"
        path.write_text(head + "1, 2\n\n3,4\n5,6e0\n")
        assert read_points(path).tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", b"1,2\n3,x\n", "line 2: y 'x' is not a number"),
        ("a.csv", b"1,2\n3,4,5\n", "line 2: 3 fields"),
        ("a.csv", b"1,2\nnan,4\n", "line 2: x 'nan' is not finite"),
        ("a.csv", b"", "holds 0 points"),
        ("a.npy", b"junk", "not a valid .npy"),
        ("a.mat", b"junk", "not a valid .mat"),
        ("a.xls", b"junk", "must be one of .npy, .csv, .mat"),
    ],
)
def test_bad_point_files_are_named(tmp_path, name, content, problem):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=problem) as caught:
        read_points(path)
    assert name in str(caught.value)


def test_a_pickle_in_a_npy_is_not_loaded(tmp_path):
    path = tmp_path / "evil.npy"
    np.save(path, np.array([[object(), 1]], dtype=object), allow_pickle=True)
    with pytest.raises(DataFileError, match="pickled objects, which are not loaded"):
        read_points(path)
