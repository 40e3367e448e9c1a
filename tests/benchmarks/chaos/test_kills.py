"""The benchmark of killed sweeps notices what it looks for, and a short part of it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.chaos import sweeps
from benchmarks.chaos.disturbances import compiled_clock, move_times, small_disk
from benchmarks.chaos.kills import FAULTS, attack, table
from benchmarks.chaos.sweeps import fault, orphans, rows


@pytest.fixture
def finished(tmp_path):
    """A folder with two results of two rows, and their table."""

    def write(folder: str) -> Path:
        table = ["job_hash,network_seed,trial"]
        for job in "ab":
            place = tmp_path / folder / "kills" / job
            place.mkdir(parents=True)
            found = [
                {"job_hash": job, "network_seed": 1, "trial": i, "mse": 0.5, "seconds_train": 1.0}
                for i in range(2)
            ]
            table += [f"{job},1,{row['trial']}" for row in found]
            (place / "result.json").write_text(json.dumps({"rows": found}))
        (tmp_path / folder / "kills" / "rows.csv").write_text("\n".join(table) + "\n")
        return tmp_path / folder

    return write


def test_lost_doubled_and_changed_rows_are_found(finished):
    expected = rows(finished("whole"))
    assert fault(finished("same"), expected) == ""
    lost = finished("lost")
    (lost / "kills" / "b" / "result.json").unlink()
    assert fault(lost, expected) == "2 rows lost"
    doubled = finished("doubled")
    copied = doubled / "kills" / "c"
    copied.mkdir()
    (copied / "result.json").write_bytes((doubled / "kills" / "b" / "result.json").read_bytes())
    assert fault(doubled, expected) == "2 rows doubled"
    changed = finished("changed")
    path = changed / "kills" / "a" / "result.json"
    path.write_text(path.read_text().replace("0.5", "0.6", 1))
    assert fault(changed, expected) == "1 rows different"
    (path.parent / ".result.json.ab.tmp").touch()
    path.write_text(path.read_text().replace("0.6", "0.5").replace("1.0", "2.0"))
    assert fault(changed, expected) == "unfinished files: .result.json.ab.tmp"
    table = finished("table")
    (table / "kills" / "rows.csv").write_text("job_hash,network_seed,trial\na,1,0\n")
    assert fault(table, expected) == "rows.csv has 1 rows instead of 4"


def test_a_process_that_is_left_behind_is_found(monkeypatch):
    monkeypatch.setattr(sweeps, "GRACE", 1.0)
    sleeper = "import time; time.sleep(60)"
    child = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {sleeper!r}])"
    started = subprocess.Popen([sys.executable, "-c", child], env={"CHAOS_MARK": "this run"})
    assert started.wait() == 0
    run = SimpleNamespace(mark="this run", ended_at=time.monotonic())
    left = orphans([run])
    assert len(left) == 1
    left[0].kill()
    left[0].wait()
    assert orphans([run]) == []


def test_a_full_disk_is_full_and_empty_again(tmp_path):
    with small_disk(tmp_path / "disk", 1) as disk:
        if disk is None:
            pytest.skip("mounting a small disk is not allowed here")
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            (disk.folder / "file").write_bytes(bytes(8192))
        disk.clear()
        (disk.folder / "file").write_bytes(bytes(8192))


def test_the_clock_jumps_and_the_monotonic_one_does_not(tmp_path):
    clock = compiled_clock(tmp_path)
    if clock is None:
        pytest.skip("there is no C compiler")
    clock.set(-86_400)
    # A lock with a timeout waits by the clock of the day in `multiprocessing`.
    code = (
        "import multiprocessing, time\n"
        "start = time.monotonic()\n"
        "lock = multiprocessing.get_context('spawn').Lock()\n"
        "lock.acquire()\n"
        "assert not lock.acquire(timeout=0.2)\n"
        "print(time.time(), start, time.monotonic() - start)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=clock.environment, capture_output=True, text=True
    )
    seen, monotonic, waited = map(float, done.stdout.split())
    assert abs(seen - (time.time() - 86_400)) < 60
    assert abs(monotonic - time.monotonic()) < 60
    assert 0.15 < waited < 60


def test_times_of_files_are_moved(tmp_path):
    for number in range(40):
        (tmp_path / str(number)).touch()
    move_times(tmp_path, random.Random(0))
    ages = {round((time.time() - path.stat().st_mtime) / 86_400) for path in tmp_path.iterdir()}
    assert ages == {-1, 0, 1}


@pytest.mark.slow
def test_a_sweep_that_is_disturbed_ends_with_the_rows_of_one_that_was_not():
    """Some minutes; `python -m benchmarks.chaos kills` is the whole."""
    tallies = attack(["basic", "joblib"], 8, random.Random(7))
    total = sum(tallies.values(), Counter())
    assert total["kills"] >= 8
    assert not [name for name in FAULTS if total[name]], table(tallies)
