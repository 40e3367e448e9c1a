"""Result rows of a fixed set of jobs, to compare two versions: `python -m benchmarks.regression`.

`record FILE` runs every job of `JOBS` in a process of its own and stores its rows; `compare FILE`
runs them again and reports every metric that differs by more than `--tolerance`. Together the jobs
use k = 1 to 4, every loss, every encoder, every kind of steps, every method, and maps. `--python`
names another interpreter, so that the rows of another installed version can be recorded:

    python -m benchmarks.regression record before.json --python /path/to/old/.venv/bin/python
    python -m benchmarks.regression compare before.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

METRICS = (
    "mse",
    "geodesic_mse",
    "upset",
    "cycle_inconsistency",
    "ane",
    "ane_paper",
    "mse_features",
    "mse_trivial",
    "limit_oracle",
    "limit_certifiable",
    "steps",
)
_SMALL = "data.n=120 data.p=0.2 data.eta=0.3 data.seeds=[10,20] trials=2 trainer.max_steps=70"
_SPARSE = "data=rggo data.n=150 data.p=0.12 data.eta=0.2 data.seeds=[10,20] trials=1"
_CLASSICAL = (
    "spectral",
    "spectral_rn",
    "gpm",
    "sdp",
    "irls",
    "transync",
    "cemp_gcw",
    "cemp_mst",
    "tas",
    "ppe",
    "trivial",
    "gnc",
    "belief",
    "cycles",
    "auto",
    "refined/gpm",
)
JOBS = (
    *(f"{_SMALL} trials=1 data.inlier_noise=0.05 method={name}" for name in _CLASSICAL),
    f"{_SPARSE} data.inlier_noise=0.1 method=auto",
    f"{_SPARSE} data.k=2 data.inlier_noise=0.02 method=auto",
    f"{_SPARSE} data.k=3 data.eta=0.1 method=auto",
    f"{_SMALL} data.k=2 trials=1 method=spectral_disentangled",
    f"{_SMALL} data.k=2 trials=1 method=belief",
    f"{_SMALL}",
    f"{_SMALL} data=bao data/angles=normal_rank1 loss.norm=frobenius model/steps=trainable",
    f"{_SMALL} data=rggo data.k=2 loss=cycle model/steps=separate",
    f"{_SMALL} data.k=3 loss=sum data/angles=normal_blocks",
    f"{_SMALL} data.k=4 loss=linear loss.tau=0.5 optimizer=adam",
    f"{_SMALL} loss=robust model/steps=reweighted",
    f"{_SMALL} loss=consistency data.k=2 model/features=random",
    f"{_SMALL} model/encoder=digcn model/steps=after_training model/features=degree",
    f"{_SMALL} model/encoder=magnet model/steps=none data/angles=uniform",
    f"{_SMALL} model/encoder=pyg data/angles=normal_iid",
    f"{_SMALL} model/encoder=connection model/steps=belief anchors=share",
    f"{_SMALL} method=gnnsync_plus trials=1",
    "data=pacm data.eta=0.15 data.seeds=[10] trials=1 method=auto",
    "data=pacm data.eta=0.15 data.seeds=[10,20] trials=1 trainer.max_steps=70",
    "data=us_cities data.eta=0.1 data.seeds=[10] trials=1 method=gpm",
    "data=us_cities_uneven data.eta=0.1 data.seeds=[10] trials=1 method=irls",
)


def rows_of(job: str, python: str) -> list[dict]:
    """The result rows of one job, run by the command of an installed version."""
    environment = os.environ | dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-m", "gnnsync.cli", "run", *job.split()]
        command += [f"output_dir={folder}", "figures=false"]
        subprocess.run(command, check=True, env=environment, capture_output=True)
        (result,) = Path(folder).rglob("result.json")
        return json.loads(result.read_text())["rows"]


def run_all(python: str, workers: int) -> dict[str, list[dict]]:
    """The rows of every job."""
    with ThreadPoolExecutor(workers) as pool:
        found = pool.map(lambda job: rows_of(job, python), JOBS)
        return {job: _report(job, rows) for job, rows in zip(JOBS, found, strict=True)}


def differences(before: list[dict], after: list[dict], tolerance: float) -> list[str]:
    """What differs between the rows of one job, in words."""
    if len(before) != len(after):
        return [f"{len(before)} rows before, {len(after)} after"]
    found = []
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        for name in METRICS:
            one, other = old.get(name), new.get(name)
            if (one is None) != (other is None):
                found.append(f"row {number}: {name} {one} → {other}")
            elif one is not None and abs(one - other) > tolerance:
                found.append(f"row {number}: {name} {one:.9g} → {other:.9g}")
    return found


def _report(job: str, rows: list[dict]) -> list[dict]:
    print(f"{job}: {len(rows)} rows", file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Run the command; exit code 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--python", default=sys.executable, help="interpreter (this one)")
    parser.add_argument("--workers", type=int, default=2, help="jobs at once (2)")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    arguments = parser.parse_args()
    rows = run_all(arguments.python, arguments.workers)
    if arguments.action == "record":
        arguments.file.write_text(json.dumps(rows, indent=1))
        return 0
    before = json.loads(arguments.file.read_text())
    different = 0
    for job, after in rows.items():
        lines = differences(before[job], after, arguments.tolerance)
        different += bool(lines)
        print("\n  ".join([f"{'DIFFERS' if lines else 'equal'}: {job}", *lines]))
    print(f"{len(rows) - different} of {len(rows)} jobs equal to {arguments.tolerance:g}")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
