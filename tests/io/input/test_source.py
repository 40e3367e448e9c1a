import tracemalloc

import pytest

import gnnsync
from gnnsync.errors import DataFileError
from gnnsync.io.input.source import MAX_LINE, Source, shorten


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(DataFileError, match="no such file"):
        gnnsync.read(tmp_path / "none.csv")
    for name in (tmp_path, tmp_path / "d.npz"):
        name.mkdir(exist_ok=True)
        with pytest.raises(DataFileError, match="is a directory"):
            gnnsync.read(name)


@pytest.mark.parametrize("ending", ["csv", "g2o", "mtx"])
def test_an_endless_line_is_refused_in_bounded_memory(tmp_path, ending):
    path = tmp_path / f"huge.{ending}"
    with open(path, "wb") as handle:
        handle.write(b"a,b,")
        # Sparse on disk: half a gigabyte of NULs that take no room.
        handle.truncate(1 << 29)
    tracemalloc.start()
    with pytest.raises(DataFileError, match=f"line 1: longer than {MAX_LINE} characters"):
        gnnsync.read(path, encoding="latin-1")  # by default it is refused as binary
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


def test_a_long_line_inside_a_block_is_named(read_text):
    with pytest.raises(DataFileError, match="line 2: longer than"):
        read_text("a,b,1\n" + "x" * (MAX_LINE + 1) + ",c,1\nd,e,1\n")


def test_progress_is_called_with_bytes_read_and_in_total(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("a\nb\n")
    calls = []
    lines = list(Source(path, lambda done, total: calls.append((done, total))).blocks())
    assert lines == [(1, ["a", "b"])]
    assert calls[0] == (4, 4)


def test_shortened_text_is_quoted():
    assert shorten("x") == "'x'"
    assert len(shorten("x" * 100)) == 42
