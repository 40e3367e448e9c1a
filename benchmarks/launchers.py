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

from tqdm import tqdm

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
    """Wall time of the whole sweep, start of the launcher included."""
    installed = {
        name: options for name, (package, options) in LAUNCHERS.items() if _installed(package)
    }
    best: dict[str, float] = {}
    for _ in range(repeats):
        for name, options in tqdm(installed.items(), desc="launchers"):
            seconds = _sweep_seconds(options)
            best[name] = min(seconds, best.get(name, seconds))
    per_hour = {name: 3600.0 * JOBS / seconds for name, seconds in best.items()}
    single = per_hour.get("joblib, 1 worker", next(iter(per_hour.values())))
    rows = [
        [name, f"{best[name]:.1f}", f"{value:.0f}", f"{value / single:.2f}×"]
        for name, value in per_hour.items()
    ]
    return Section(
        f"A sweep of {JOBS} jobs under each local launcher",
        ("launcher", "seconds", "jobs per hour", "against one joblib worker"),
        rows,
        figures={"per_hour": per_hour},
    )


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _sweep_seconds(options: list[str]) -> float:
    command = [sys.executable, "-m", "gnnsync.cli", "run", "-m", *SWEEP, *options]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(
            [*command, f"output_dir={folder}"],
            check=True,
            env=os.environ | ONE_THREAD,
            capture_output=True,
        )
        return time.perf_counter() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1)
    print(measure(parser.parse_args().repeats).markdown())
