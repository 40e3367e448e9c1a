"""`.mat` files are read by another process, whose crash is an error of this one."""

import io

import numpy as np
import pytest
from scipy.io import savemat

from gnnsync.errors import DataFileError
from gnnsync.io.input.source import Source
from gnnsync.io.nodes.mat_file import read_mat
from tests.io.graphs import assert_one_line


def stored(arrays, **options):
    file = io.BytesIO()
    savemat(file, arrays, **options)
    return file.getvalue()


def read(tmp_path, data, array=None):
    path = tmp_path / "points.mat"
    path.write_bytes(data)
    return read_mat(Source(path), array)


@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}], ids=str)
def test_the_only_cloud_is_found(tmp_path, options):
    points = np.arange(8.0).reshape(4, 2)
    assert np.array_equal(read(tmp_path, stored({"p": points, "q": np.eye(3)}, **options)), points)


def test_one_of_several_is_named(tmp_path):
    data = stored({"p": np.zeros((3, 2)), "q": np.ones((4, 2))})
    assert read(tmp_path, data, "q").shape == (4, 2)
    with pytest.raises(DataFileError, match=r"2 arrays of shape n × 2.* p \(3, 2\), q \(4, 2\)"):
        read(tmp_path, data)
    with pytest.raises(DataFileError, match="has no n × 2 array 'r'"):
        read(tmp_path, data, "r")


def damaged(place, *values):
    data = bytearray(stored({"p": np.arange(12.0).reshape(6, 2)}))
    data[place : place + len(values)] = bytes(values)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        # An unknown type of numbers: `loadmat` follows a null pointer.
        (damaged(176, 0), "is a damaged .mat file: its reader ended by signal"),
        (b"junk", "is not a valid .mat file"),
        (damaged(0)[:200], "is not a valid .mat file"),
    ],
    ids=["crash", "junk", "cut short"],
)
def test_damaged_files_are_errors(tmp_path, data, problem):
    with pytest.raises(DataFileError, match=problem) as caught:
        read(tmp_path, data)
    assert_one_line(str(caught.value), "points.mat")
