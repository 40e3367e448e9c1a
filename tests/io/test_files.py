import os

import pytest

from gnnsync.io.files import OutputError, atomic_output, writable_directory, write_text


def test_output_is_whole_or_absent(tmp_path):
    path = tmp_path / "out.csv"

    def fail_halfway():
        with atomic_output(path) as handle:
            handle.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert os.listdir(tmp_path) == []
    path.write_text("before")
    os.chmod(path, 0o640)
    with atomic_output(path) as handle:
        handle.write("after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_new_file_gets_the_permissions_of_the_umask(tmp_path):
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "atomic", "ä\n")
    modes = [(tmp_path / name).stat().st_mode for name in ("plain", "atomic")]
    assert modes[0] == modes[1]
    assert (tmp_path / "atomic").read_bytes() == b"\xc3\xa4\n"


def test_a_folder_is_created_or_the_error_names_the_option(tmp_path):
    assert writable_directory(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"output_dir: cannot write in .*: choose .*output_dir=F"):
        writable_directory(tmp_path / "file")
    with pytest.raises(OutputError, match="choose another with --output FOLDER"):
        writable_directory(tmp_path / "file", "--output")
