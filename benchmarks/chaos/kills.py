"""Random SIGKILLs of sweeps: afterwards no row is lost, doubled or different.

    python -m benchmarks.chaos kills --count 200
    python -m benchmarks.chaos kills --count 6 --launchers basic joblib

A small sweep is run once without disturbance. Then, for each launcher and for one driver or two in
the same folder, it is started and killed after a random time, the whole process group or the driver
alone, until it has all its results; in between the times of files are moved, as by a clock that
jumps. The rows have to be those of the first run, but for the times that jobs took.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from itertools import cycle
from pathlib import Path
from typing import Any

SWEEP = [
    *("data.n=40", "data.p=0.3", "data.seeds=[10,20]", "trials=2", "figures=false", "logger=none"),
    *("method=gpm,spectral_rn,trivial", "data.eta=0.2,0.4,0.6", "sweep=kills"),
]
LAUNCHERS = {
    "basic": [],
    "joblib": ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    "ray": ["hydra/launcher=ray", "hydra.launcher.ray.init.num_cpus=2"],
}
_DAY = 86_400.0


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos kills")
    parser.add_argument("--count", type=int, default=200, help="kills in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--launchers", nargs="+", default=list(LAUNCHERS), choices=LAUNCHERS)
    given = parser.parse_args(arguments)
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        finish(start(whole, "basic"))
        expected = rows(whole)
        kills = bad = rounds = 0
        for launcher, drivers in cycle((name, n) for name in given.launchers for n in (1, 2)):
            if kills >= given.count:
                break
            broken = Path(folder) / f"round{rounds}"
            kills += disturbed(broken, launcher, drivers, given.count - kills, chance)
            same = rows(broken) == expected
            bad += not same
            rounds += 1
            print(
                f"{launcher}, drivers: {drivers}: {'same rows' if same else 'DIFFERENT'}; "
                f"{kills} kills so far",
                flush=True,
            )
    print(f"{kills} kills in {rounds} sweeps: {bad} with rows lost, doubled or different")
    sys.exit(bool(bad))


def disturbed(folder: Path, launcher: str, drivers: int, most: int, chance: random.Random) -> int:
    """Start and kill a sweep until it is complete, then run it to its end; how many kills."""
    kills = 0
    while kills < most and len(results(folder)) < 9:
        running = [start(folder, launcher) for _ in range(drivers)]
        target = len(results(folder)) + chance.choice((1, 2))
        while len(results(folder)) < target and any(one.poll() is None for one in running):
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 0.3))
        for one in running:
            if one.poll() is None:
                kill = chance.choice((os.kill, os.killpg))
                kill(one.pid, signal.SIGKILL)
                kills += 1
            one.wait()
        _move_clock(folder, chance)
    finish(start(folder, launcher))
    return kills


def start(folder: Path, launcher: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gnnsync.cli", "run", "-m", *SWEEP, *LAUNCHERS[launcher]]
    return subprocess.Popen(
        [*command, f"output_dir={folder}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> None:
    if process.wait(timeout=600):
        raise RuntimeError(f"exit code {process.returncode}")


def results(folder: Path) -> list[Path]:
    return sorted(folder.rglob("result.json"))


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows without the times that jobs took, in a fixed order."""
    found = [row for path in results(folder) for row in json.loads(path.read_text())["rows"]]
    kept = [{k: v for k, v in row.items() if not k.startswith("seconds")} for row in found]
    return sorted(kept, key=lambda row: (row["job_hash"], row["network_seed"], row["trial"]))


def _move_clock(folder: Path, chance: random.Random) -> None:
    """Set the times of some files a day back or ahead."""
    for path in folder.rglob("*"):
        if path.is_file() and chance.random() < 0.3:
            moved = path.stat().st_mtime + chance.choice((-_DAY, _DAY))
            os.utime(path, (moved, moved))
