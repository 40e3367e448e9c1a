from __future__ import annotations

import subprocess
import sys
import time

from gnnsync.results.locks import claim, claimed, last_claimed


def test_a_folder_is_held_once_and_released_at_the_end(tmp_path):
    folder = tmp_path / "job"
    assert not claimed(folder)
    assert last_claimed(folder) == 0.0
    before = time.time()
    with claim(folder) as first, claim(folder) as second:
        assert (first, second) == (True, False)
        assert claimed(folder)
    assert not claimed(folder)
    assert last_claimed(folder) >= before - 2.0  # clocks of file systems are coarse


def test_a_killed_process_releases_its_folder(tmp_path):
    code = (
        "import sys, pathlib; from gnnsync.results.locks import claim\n"
        "with claim(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert claimed(tmp_path)
        holder.kill()
    assert not claimed(tmp_path)


def test_files_that_a_killed_process_left_half_written_are_removed(tmp_path):
    for name in (".result.json.1a2b.tmp", "state.partial", "config.yaml"):
        (tmp_path / name).write_text("")
    with claim(tmp_path):
        assert sorted(p.name for p in tmp_path.iterdir()) == [".lock", "config.yaml"]
