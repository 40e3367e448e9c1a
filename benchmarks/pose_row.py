"""One row of `benchmarks.pose_graphs` in its own process: a JSON object in, another out.

A process of its own can be stopped at a time limit, and inherits no cache or memory of the others.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

import gnnsync  # noqa: E402
from benchmarks.pose_metrics import measure, position_error  # noqa: E402
from gnnsync.data.false_closures import add_false_closures  # noqa: E402
from gnnsync.io import read_poses  # noqa: E402
from gnnsync.methods import METHODS  # noqa: E402
from gnnsync.pose_graph import PoseGraph  # noqa: E402
from gnnsync.typing import FloatArray  # noqa: E402

# Methods that estimate whole poses; all others see the headings only.
GTSAM, POSES = "gtsam_gnc", "poses"


def disturbed(graph: PoseGraph, cell: dict[str, Any]) -> tuple[PoseGraph, Any]:
    """The graph with the false closures of a cell, and which edges (m,) these are."""
    rng = np.random.default_rng(cell["seed"])
    kind = cell["kind"] if cell["count"] else "random"
    heading = cell["heading"] if cell["count"] else "normal"
    return add_false_closures(graph, cell["count"], kind, rng, heading=heading)


def solve(graph: PoseGraph, method: str, seed: int) -> tuple[FloatArray, FloatArray]:
    """Poses (n, 3), or headings (n,) of a method that sees headings only; confidences (m,)."""
    if method == GTSAM:
        # Not needed by the other methods.
        from benchmarks.pose_gtsam import gnc
        from benchmarks.pose_truth import odometry_poses

        found = gnc(graph, odometry_poses(graph))
        return found.poses, found.weight
    if method == POSES:
        poses = gnnsync.solve_poses(graph)
        return poses.poses, poses.edge_confidence
    solution = METHODS[method]()(graph.rotations, seed=seed)
    return solution.angles[:, 0], solution.edge_confidence


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Figures of one cell: see `pose_metrics.measure`, with seconds of the solution alone."""
    cell = task["cell"]
    graph, false = disturbed(read_poses(task["file"]), cell)
    wall, busy = time.perf_counter(), time.process_time()
    found, confidence = solve(graph, cell["method"], cell["seed"])
    seconds = time.perf_counter() - wall, time.process_time() - busy
    truth = np.load(task["truth"])
    whole = found.ndim == 2
    headings, true = (found[:, 2], truth["poses"][:, 2]) if whole else (found, truth["headings"])
    figures = measure(graph.rotations, false, true, headings, confidence)
    figures["position_error"] = position_error(found, truth["poses"]) if whole else None
    return figures | {"seconds": seconds[0], "seconds_process": seconds[1]}


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.stdin.read()))))
