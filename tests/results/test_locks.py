from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from gnnsync.results.locks import claim, claimed, exclusive, holder, last_claimed


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


def test_a_lock_says_who_holds_it(tmp_path):
    assert holder(tmp_path) == "another process"
    with claim(tmp_path):
        assert holder(tmp_path) == f"process {os.getpid()} on {socket.gethostname()}"


def test_a_look_at_a_lock_does_not_keep_a_job_from_starting(tmp_path):
    tmp_path.joinpath(".lock").touch()
    with ThreadPoolExecutor(1) as pool, tmp_path.joinpath(".lock").open("r+") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        assert not claimed(tmp_path), "another look is no lock"
        pool.submit(lambda: (time.sleep(0.05), fcntl.flock(looking, fcntl.LOCK_UN)))
        with claim(tmp_path) as mine:
            assert mine


def test_a_folder_that_is_removed_and_made_again_has_one_holder(tmp_path):
    """As when a job that was refused removes its folder while another waits for it."""
    folder = tmp_path / "job"
    real = os.open

    def open_and_remove(*arguments):
        descriptor = real(*arguments)
        if folder.exists() and not list(tmp_path.glob("gone")):
            folder.rename(tmp_path / "gone")
        return descriptor

    with mock.patch.object(os, "open", open_and_remove), claim(folder) as mine:
        assert mine
        assert claimed(folder)
        with claim(folder) as second:
            assert not second


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
