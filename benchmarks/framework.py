"""What Hydra and Lightning add to a bare loop: `python -m benchmarks.framework`.

The job is a cell of the paper (ERO p=.05, 5 networks × 2 trials, 1000 steps). The bare loop takes
the same steps with the same parts: forward, backward, optimizer, evaluation every tenth step. It is
compared with the training time of the same job under `gnnsync run`, measured in its own process
between the first and the last step, with the CSV logger, checkpoints and the log on. Start-up is
the time from the command `gnnsync run` to the end of its first step, on a small graph: imports,
composing the config, data, features, operators, the step.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from rich.progress import track

from benchmarks.section import Section, spread
from gnnsync.data import SyntheticNetworks
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.priors import GammaAngles
from gnnsync.learn import Training, gnnsync_paper

STEPS = 1000
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def measure(repeats: int = 3) -> Section:
    """Interleaved repeats; the ratio is taken within one."""
    torch.set_num_threads(1)
    bare, full, starts = [], [], []
    for _ in track(range(repeats), description="framework"):
        bare.append(bare_seconds())
        full.append(job_seconds())
        starts.append(startup_seconds())
    added = [100.0 * (ours / loop - 1.0) for ours, loop in zip(full, bare, strict=True)]
    row = [
        spread(bare, " s"),
        spread(full, " s"),
        spread(added, " %"),
        spread(starts, " s"),
    ]
    return Section(
        "Framework cost, 1000 steps at R = 10 (one thread)",
        (
            "bare loop",
            "`gnnsync run`, training",
            "added",
            "start-up: from the command to the end of its first step",
        ),
        [row],
        "Median and range over the repeats.",
        {"added": added, "startup": starts},
    )


def bare_seconds() -> float:
    """The same maths without Lightning, Hydra or bookkeeping."""
    data = SyntheticNetworks(erdos_renyi, GammaAngles(), p=0.05, eta=0.6)
    training = Training(max_steps=STEPS, patience=STEPS, accelerator="cpu")
    method = gnnsync_paper(training=training)
    batch = method.prepare(data.graphs, seeds=range(10), trials=2)
    module = method.build(batch)
    optimizer = module.configure_optimizers()
    start = time.perf_counter()
    for step in range(STEPS):
        for layer in module.modules():
            if hasattr(layer, "step") and layer is not module:
                layer.step = step
        optimizer.zero_grad()
        module.loss(module(batch, final=False), batch).sum().backward()
        optimizer.step()
        if step % training.eval_every == 0:
            module.evaluate(batch)
    return time.perf_counter() - start


def job_seconds() -> float:
    """Training time of the same job under `gnnsync run`."""
    options = ["data.p=0.05", "data.eta=0.6", f"trainer.max_steps={STEPS}"]
    options += [f"callbacks.stopping.patience={STEPS}", "trials=2", "figures=false"]
    with tempfile.TemporaryDirectory() as folder:
        _run(options, folder)
        (result,) = Path(folder).rglob("result.json")
        rows = json.loads(result.read_text())["rows"]
    return float(sum(row["seconds_train"] for row in rows))


def startup_seconds() -> float:
    """Wall time from the command to the log line that tells of its first step."""
    options = ["data.n=60", "data.p=0.3", "trials=1", "trainer.max_steps=1", "figures=false"]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with _started(options, folder) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if "step 1 of 1" in line:
                    seconds = time.perf_counter() - start
        _check_exit(process)
    return seconds


def _run(options: list[str], folder: str) -> None:
    with _started(options, folder) as process:
        process.communicate()
    _check_exit(process)


def _started(options: list[str], folder: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gnnsync.cli", "run", *options, f"output_dir={folder}"]
    return subprocess.Popen(
        command,
        env=os.environ | ONE_THREAD,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _check_exit(process: subprocess.Popen[str]) -> None:
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    print(measure(parser.parse_args().repeats).markdown())
