import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from gnnsync.errors import DataFileError
from gnnsync.io.input.array_file import load_arrays
from gnnsync.io.input.source import Source
from tests.io.graphs import assert_one_line


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(tmp_path, members, method=zipfile.ZIP_DEFLATED):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def refused(path, problem, most=20 << 20):
    tracemalloc.start()
    with pytest.raises(DataFileError, match=problem) as caught:
        load_arrays(Source(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_one_line(str(caught.value), path.name)
    assert peak < most


def test_arrays_by_name(tmp_path):
    np.savez(tmp_path / "a.npz", one=np.ones(3), two=np.array(["x"]))
    arrays = load_arrays(Source(tmp_path / "a.npz"))
    assert arrays["one"].tolist() == [1, 1, 1]
    assert arrays["two"].tolist() == ["x"]
    np.save(tmp_path / "b.npy", np.ones(2))
    assert load_arrays(Source(tmp_path / "b.npy"))["array"].tolist() == [1, 1]


def test_what_expands_to_gigabytes_is_refused_before_it_is_expanded(tmp_path):
    bomb = npy(np.zeros(4 << 20))  # 32 MB in 32 kB
    members = {f"{i}.npy": bomb for i in range(4)}
    refused(archive(tmp_path, members), "expands to more than 250 times its size")


def test_a_member_that_claims_more_than_the_archive_says(tmp_path):
    data = npy(np.zeros(3)).replace(b"(3,), }         ", b"(3000000000,), }")
    refused(archive(tmp_path, {"a.npy": data}), "claims 24000000000 bytes of numbers and holds 24")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(tmp_path, method):
    # A megabyte of them can expand to a terabyte.
    refused(archive(tmp_path, {"a.npy": npy(np.ones(3))}, method), "unknown method")


def test_encrypted_and_unknown_members(tmp_path):
    path = archive(tmp_path, {"a.npy": npy(np.ones(3))}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.index(mark) + place] |= 1
    path.write_bytes(data)
    refused(path, "is encrypted")
    refused(archive(tmp_path, {"a.txt": b"hello"}), "is no array in NumPy's format")


def test_too_many_members(tmp_path):
    refused(archive(tmp_path, {f"{i}.npy": npy(0) for i in range(1001)}), "holds 1001 arrays")
