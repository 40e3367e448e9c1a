"""Time per graph on one thread, and memory of large graphs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.inductive.cases import Case
from benchmarks.inductive.checks import Check
from benchmarks.inductive.measure import NETWORK, POLISHED, Compared
from benchmarks.machine import peak_memory
from benchmarks.section import Section
from gnnsync import MeasurementGraph
from gnnsync.learn.inductive.method import GNNSyncInductive
from gnnsync.metrics import angular_mse

_REPEATS = 5
# Seconds of processor time that a graph may take.
_BOUNDS = {("ero", NETWORK): 0.15, ("rggo", NETWORK): 0.25, ("ero", POLISHED): 0.4}
_BOUNDS["rggo", POLISHED] = 0.4
_LARGE, _SMALLER = 30_000, 10_000
_LARGE_SECONDS = 10.0
# Peak memory per edge of the larger graph over that of the smaller one, if memory is linear in m.
_LINEAR = 1.2
_DEGREE, _LARGE_ETA, _LARGE_SIGMA = 20, 0.4, 0.1


def cost(
    cases: Sequence[Case], seeds: Sequence[int], compared: Compared
) -> tuple[Section, list[Check]]:
    """Time at n = 360, p = .15, and a graph of 30,000 nodes and 300,000 edges."""
    section = Section("Time and memory", ("graph", "method", "seconds", "MSE", "peak memory"), [])
    checks = []
    for case in cases:
        graph = case.draw(seeds[:1])[0]
        for name in (NETWORK, POLISHED):
            solve, spent = compared.solver(name), []
            for _ in range(_REPEATS + 1):
                fresh = graph.replace(angles=None, group=None)
                start = time.process_time()
                angles = solve(fresh, case)
                spent.append(time.process_time() - start)
            seconds = float(np.median(spent[1:]))
            error = angular_mse(angles, graph.angles)
            section.rows.append([case.name, name, f"{seconds:.3f}", f"{error:.4f}", "–"])
            checks.append(
                Check(f"seconds per graph, {case.name}, {name}", seconds, _BOUNDS[case.graph, name])
            )
    section_rows, large = _large(seeds[0], compared)
    section.rows += section_rows
    return section, checks + large


def _large(seed: int, compared: Compared) -> tuple[list[list[str]], list[Check]]:
    """Two large graphs, each in a process of its own, whose peak counts."""
    rows, checks = [], []
    for polish in (False, True):
        per_edge = []
        for n in (_SMALLER, _LARGE):
            command = [sys.executable, "-m", "benchmarks.inductive.cost", str(n), str(seed)]
            command += [str(int(polish)), *([compared.weights] if compared.weights else [])]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(run.stdout.splitlines()[-1])
            per_edge.append((found["peak"] - found["before"]) / found["edges"])
            name = POLISHED if polish else NETWORK
            rows.append(
                [
                    f"ero n={n} m={found['edges']}",
                    name,
                    f"{found['seconds']:.2f}",
                    f"{found['mse']:.4f}",
                    f"{found['peak'] / 2**20:.0f} MiB, {per_edge[-1]:.0f} bytes per edge",
                ]
            )
        checks += [
            Check(f"seconds for n = {_LARGE:,}, {name}", found["seconds"], _LARGE_SECONDS),
            Check(
                f"memory per edge at n = {_LARGE:,} / at n = {_SMALLER:,}, {name}",
                per_edge[1] / per_edge[0],
                _LINEAR,
            ),
        ]
    return rows, checks


def large_network(n: int, seed: int) -> MeasurementGraph:
    """n nodes, 10 n random pairs, noisy inliers."""
    rng = np.random.default_rng(seed)
    m = n * _DEGREE // 2
    src = rng.integers(n, size=m)
    dst = (src + rng.integers(1, n, size=m)) % n
    truth = rng.uniform(0.0, 2.0 * np.pi, n)
    inlier = truth[src] - truth[dst] + _LARGE_SIGMA * rng.standard_normal(m)
    outlier = rng.random(m) < _LARGE_ETA
    offset = np.where(outlier, rng.uniform(0.0, 2.0 * np.pi, m), inlier)
    return MeasurementGraph(np.stack([src, dst]), offset, n, angles=truth[:, None])


def main(n: str, seed: str, polish: str, weights: str | None = None) -> None:
    """One large graph in this process, as a line of JSON."""
    graph = large_network(int(n), int(seed))
    method = GNNSyncInductive(weights=weights, polish=polish == "1")
    warm = Case("ero", 60, 0.3, 0.2)
    method(*warm.draw([0]))
    fresh, before = graph.replace(angles=None), peak_memory()
    start = time.process_time()
    angles = method(fresh).angles
    seconds = time.process_time() - start
    found = {"seconds": seconds, "mse": angular_mse(angles, graph.angles)}
    print(json.dumps({**found, "edges": graph.num_edges, "before": before, "peak": peak_memory()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
