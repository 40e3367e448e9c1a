from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from gnnsync.results.locks import claim, claimed, exclusive, last_claimed


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


def test_sweeps_write_in_their_folder_one_after_the_other(tmp_path):
    inside: list[int] = []
    most: list[int] = []

    def write() -> None:
        with exclusive(tmp_path):
            inside.append(1)
            (tmp_path / ".jobs.json.1a2b.tmp").write_text("")
            most.append(len(inside))
            os.replace(tmp_path / ".jobs.json.1a2b.tmp", tmp_path / "jobs.json")
            inside.pop()

    with ThreadPoolExecutor(4) as pool:
        with exclusive(tmp_path):
            (tmp_path / ".rows.csv.3c4d.tmp").write_text("")
            waiting = [pool.submit(write) for _ in range(4)]
            assert not any(future.done() for future in waiting)
        for future in waiting:
            future.result()
    assert most == [1] * 4
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "jobs.json"]
