import gzip
import tracemalloc
import zlib

import pytest

import gnnsync
from gnnsync.errors import DataFileError
from gnnsync.io.input.compression import expand

TEXT = "".join(f"n{i},n{i + 1},{i % 6}.25\n" for i in range(60_000))


def pieces(data, size):
    return (data[i : i + size] for i in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 20])
def test_expanded_bytes_are_those_that_were_compressed(size):
    data = TEXT[:3000].encode()
    stored = gzip.compress(data)
    assert b"".join(expand(pieces(stored, size), 100, ValueError)) == data


def test_streams_one_after_the_other_and_zeros_behind():
    stored = gzip.compress(b"one\n") + gzip.compress(b"two\n") + b"\0" * 10
    assert b"".join(expand(pieces(stored, 5), 100, ValueError)) == b"one\ntwo\n"


@pytest.mark.parametrize("ending", ["csv.gz", "txt.gz", "tsv.gz"])
def test_compressed_tables(read_text, ending):
    graph = read_text(gzip.compress(TEXT.encode()), ending)
    assert graph.num_edges == 60_000


def test_other_text_formats_may_be_compressed(read_text):
    assert read_text(gzip.compress(b"EDGE_SE2 0 1 0 0 1 1 0 0 1 0 1"), "g2o.gz").num_edges == 1
    # Whatever its name says: browsers expand or keep the compression as they like.
    assert read_text(gzip.compress(b"a,b,1\n"), "csv").num_edges == 1
    assert read_text(b"a,b,1\n", "csv.gz").num_edges == 1


def test_progress_counts_stored_bytes(tmp_path):
    path, calls = tmp_path / "a.csv.gz", []
    path.write_bytes(gzip.compress(TEXT.encode()))
    gnnsync.read(path, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (path.stat().st_size,) * 2


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda data: data[: len(data) // 2], "ends within the gzip stream"),
        (lambda data: data[:40] + b"\xff" * 40 + data[80:], "is damaged gzip"),
        (lambda data: data[:-8] + bytes(8), "is damaged gzip"),
    ],
)
def test_damaged_files_are_named(read_text, damage, problem):
    with pytest.raises(DataFileError, match=problem):
        read_text(damage(gzip.compress(TEXT.encode())), "csv.gz")


def test_a_bomb_is_refused_in_bounded_memory(read_text):
    """A gigabyte of blanks in a megabyte."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = (b" " * 60_000 + b"\n") * 17
    stored = b"".join(packer.compress(block) for _ in range(1024)) + packer.flush()
    tracemalloc.start()
    with pytest.raises(DataFileError, match="expands to more than 250 times its size"):
        read_text(stored, "csv.gz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 128 << 20
