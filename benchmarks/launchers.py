"""Jobs per hour of a quick sweep under each local launcher: `python -m benchmarks.launchers`.

The sweep trains GNNSync on 32 noise levels (5 networks × 2 trials, 1000 steps each), one thread
per job: minutes of work, against which the start of processes, seconds each, counts as it does in
the smallest sweeps of the paper's studies. A launcher whose package is not installed is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from rich.progress import track

from benchmarks.framework import ONE_THREAD
from benchmarks.section import Section

JOBS = 32
LEVELS = ",".join(f"{0.02 * level:.2f}" for level in range(1, JOBS + 1))
SWEEP = ["data.p=0.05", f"data.eta={LEVELS}", "figures=false", "logger=none"]
LAUNCHERS = {
    "basic": ("hydra", []),
    "joblib, 1 worker": (
        "hydra_plugins.hydra_joblib_launcher",
        ["hydra/launcher=joblib", "hydra.launcher.n_jobs=1"],
    ),
    "joblib, 2 workers": (
        "hydra_plugins.hydra_joblib_launcher",
        ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    ),
    "ray, 2 workers": (
        "hydra_plugins.hydra_ray_launcher",
        ["hydra/launcher=ray", "hydra.launcher.ray.init.num_cpus=2"],
    ),
}


def measure(repeats: int = 1) -> Section:
    """Whole sweeps, start of the launcher included, and the rate from first to last result."""
    installed = {
        name: options for name, (package, options) in LAUNCHERS.items() if _installed(package)
    }
    best: dict[str, Timing] = {}
    for _ in range(repeats):
        for name, options in track(list(installed.items()), description="launchers"):
            timing = _sweep(options)
            best[name] = min(timing, best.get(name, timing), key=lambda found: found.seconds)
    per_hour = {name: 3600.0 * JOBS / timing.seconds for name, timing in best.items()}
    running = {name: timing.running_per_hour for name, timing in best.items()}
    single = "joblib, 1 worker" if "joblib, 1 worker" in best else next(iter(best))
    rows = [
        [
            name,
            f"{timing.seconds:.1f}",
            f"{per_hour[name]:.0f}",
            f"{per_hour[name] / per_hour[single]:.2f}×",
            f"{running[name]:.0f}",
            f"{running[name] / running[single]:.2f}×",
        ]
        for name, timing in best.items()
    ]
    return Section(
        f"A sweep of {JOBS} jobs under each local launcher",
        (
            "launcher",
            "seconds",
            "jobs per hour",
            "against one joblib worker",
            "jobs per hour once running",
            "against one joblib worker",
        ),
        rows,
        "Once running: from the first result to the last, without the start of the processes.",
        figures={"per_hour": per_hour},
    )


class Timing(NamedTuple):
    """Wall time of a sweep, and the rate at which results came."""

    seconds: float
    running_per_hour: float


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _sweep(options: list[str]) -> Timing:
    command = [sys.executable, "-m", "gnnsync.cli", "run", "-m", *SWEEP, *options]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [*command, f"output_dir={folder}"],
            check=True,
            env=os.environ | ONE_THREAD,
            capture_output=True,
        )
        seconds = time.perf_counter() - start
        ends = sorted(path.stat().st_mtime for path in Path(folder).rglob("result.json"))
    return Timing(seconds, 3600.0 * (len(ends) - 1) / (ends[-1] - ends[0]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1)
    print(measure(parser.parse_args().repeats).markdown())
