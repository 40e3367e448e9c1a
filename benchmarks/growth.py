"""Time and memory against size at fixed mean degree 20: `python -m benchmarks.growth`.

Every size runs in a process of its own, whose peak memory counts the interpreter, the graph, the
features and the training. Training is GNNSync as configured by default (k = 1, upset loss), R = 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np
import torch
from rich.progress import track

from benchmarks.clock import EpochClock, timed_fit
from benchmarks.machine import peak_memory
from benchmarks.section import Section
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.data.priors import GammaAngles
from gnnsync.learn import Training, gnnsync_paper
from gnnsync.methods import METHODS

SIZES = (1_000, 10_000, 100_000, 1_000_000)
DEGREE = 20
SLOPE_FROM = 10_000
# Methods whose cost per iteration is linear in the number of edges.
LINEAR = (
    "trivial",
    "spectral",
    "spectral_rn",
    "spectral_disentangled",
    "gpm",
    "irls",
    "transync",
    "gnc",
)


def measure(sizes: tuple[int, ...] = SIZES) -> Section:
    """Training and features at every size, and the slope of the step in the number of edges."""
    found = [_in_process("train", n) for n in track(sizes, description="growth")]
    rows = [
        [
            f"{point['n']:,}",
            f"{point['m']:,}",
            f"{1e3 * point['step']:.1f}",
            f"{point['features']:.1f} ({point['products']:.0f} products)",
            f"{point['operators']:.1f}",
            f"{point['peak'] / 2**30:.2f}",
        ]
        for point in found
    ]
    large = [point for point in found if point["n"] >= SLOPE_FROM]
    note = ""
    if len(large) > 1:
        logs = np.log([[point["m"], point["step"]] for point in large])
        slope = float(np.polyfit(*logs.T, 1)[0])
        first, last = found[0], large[-1]
        per_edge = (last["peak"] - first["peak"]) / (last["m"] - first["m"])
        note = (
            f"log-log slope of the step in m from n = {large[0]['n']:,} on: {slope:.2f}. "
            f"Peak memory: {per_edge:.0f} bytes per edge, everything included."
        )
    return Section(
        f"Growth with size (ERO, mean degree {DEGREE}, η = .3, one thread)",
        ("n", "m", "step, ms", "features, s", "operators, s", "peak, GiB"),
        rows,
        note,
        {"points": found},
    )


def measure_methods(n: int = SIZES[-1]) -> Section:
    """Every classical method that is linear in m, at the largest size."""
    rows = []
    for name in track(LINEAR, description=f"methods at n = {n:,}"):
        point = _in_process(name, n)
        rows.append(
            [
                name,
                f"{point['seconds']:.0f}",
                f"{point['iterations']:.0f}",
                f"{point['mse']:.4f}",
                f"{point['peak'] / 2**30:.2f}",
            ]
        )
    return Section(
        f"Classical methods at n = {n:,} (ERO, mean degree {DEGREE}, η = .3, one thread)",
        ("method", "seconds", "iterations", "MSE", "peak, GiB"),
        rows,
    )


def _in_process(task: str, n: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.growth", "--task", task, "--nodes", str(n)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])


def _task(task: str, n: int) -> dict[str, float]:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    pairs = erdos_renyi(n, DEGREE / n, 0)
    graph = observe(pairs, GammaAngles()(n, 1, rng), 0.3, rng=rng)
    point = _train(graph) if task == "train" else _solve(task, graph)
    return {"n": n, "m": graph.num_edges, "peak": peak_memory(), **point}


def _train(graph) -> dict[str, float]:
    start = time.perf_counter()
    solution = METHODS["spectral_rn"]()(graph)
    features = time.perf_counter() - start
    steps = 20 if graph.num_nodes <= 100_000 else 5
    training = Training(max_steps=3 * steps, steps_per_epoch=steps, accelerator="cpu")
    start = time.perf_counter()
    method = gnnsync_paper(training=training)
    batch = method.prepare([graph])
    module = method.build(batch)
    operators = time.perf_counter() - start - features
    clock = EpochClock(time.perf_counter)
    timed_fit(method, module, batch, clock)
    return {
        "step": float(np.diff(clock.ends).min() / steps),
        "features": features,
        "products": solution.iterations,
        "operators": max(operators, 0.0),
    }


def _solve(name: str, graph) -> dict[str, float]:
    from gnnsync.metrics import angular_mse

    solution = METHODS[name]()(graph)
    return {
        "seconds": solution.seconds,
        "iterations": solution.iterations,
        "mse": angular_mse(solution.angles, graph.angles),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=SIZES[-1], help="largest size")
    parser.add_argument("--task", help="one measurement in this process: train, or a method")
    parser.add_argument("--methods", action="store_true", help="classical methods instead")
    arguments = parser.parse_args()
    if arguments.task:
        print(json.dumps(_task(arguments.task, arguments.nodes)))
    elif arguments.methods:
        print(measure_methods(arguments.nodes).markdown())
    else:
        print(measure(tuple(n for n in SIZES if n <= arguments.nodes)).markdown())
