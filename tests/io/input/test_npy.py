import io

import numpy as np
import pytest

from gnnsync.errors import DataFileError
from gnnsync.io.input.npy import read_npy


def stored(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), version)
    return file.getvalue()


def read(data):
    return read_npy(io.BytesIO(data), len(data), DataFileError)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(5),
        np.empty((0, 2)),
        np.array(["a", "longer"]),
        np.array([b"x"]),
        np.array([True, False]),
        np.arange(3, dtype=">i2"),
        np.arange(3, dtype=np.float16),
    ],
    ids=str,
)
@pytest.mark.parametrize("version", [(1, 0), (2, 0)], ids=str)
def test_plain_arrays_come_back(array, version):
    back = read(stored(array, version))
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)
    assert back.flags.writeable


def test_headers_of_python_2_are_read():
    data = stored(np.ones((3, 2))).replace(b"(3, 2), }  ", b"(3L, 2L), }")
    assert read(data).shape == (3, 2)


def headed(text):
    header = text.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8)


def described(descr, shape):
    return headed(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is no array in NumPy's format"),
        (b"\x93NUMPY\x09\x00", "is no array in NumPy's format"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "header of 4294967295 bytes"),
        (b"\x93NUMPY\x01\x00\xff\x00{", "damaged header"),
        (headed("{"), "damaged header"),
        (headed("[" * 9000), "damaged header"),
        (headed("-" * 9000 + "1"), "damaged header"),
        (described("'<f8'", "(10**9,)"), "damaged header"),
        (described("'<f8'", f"({'9' * 400},)"), "damaged header"),
        (described("'<f8'", "(1000000000,)"), "claims 8000000000 bytes"),
        (described("'<f8'", "(-1,)"), "damaged header"),
        (described("'|O'", "(1,)"), "pickled objects"),
        (described("[('a', '<f8')]", "(1,)"), "records"),
        (described("'<c16'", "(1,)"), "'<c16'"),
        (described("'<f7'", "(1,)"), "'<f7'"),
        (described("'<U999999999'", "(1,)"), "'<U9|claims"),
    ],
)
def test_wrong_headers_are_refused_before_memory_is_taken(data, problem):
    with pytest.raises(DataFileError, match=problem):
        read(data)


def test_a_file_cut_short_says_so():
    data = stored(np.ones(100))
    with pytest.raises(DataFileError, match="claims 800 bytes of numbers and holds 790"):
        read(data[:-10])
    with pytest.raises(DataFileError, match="ends within its numbers"):
        read_npy(io.BytesIO(data[:-10]), len(data), DataFileError)
