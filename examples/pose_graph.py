"""Estimate a robot's headings from a 2D pose graph in g2o format.

A robot drives several times around a square. Odometry between consecutive poses drifts. The robot
recognises places it has visited before (loop closures), sometimes wrongly. Estimating the rotations
of the pose graph is angular synchronization.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import gnnsync
from gnnsync.angles import align, wrap

SIDE, ROUNDS = 10, 5


def write_pose_graph(path: Path, heading: np.ndarray, rng: np.random.Generator) -> None:
    """EDGE_SE2 i j dx dy dθ and its information matrix: dθ is the heading of j seen from i."""
    n, lap = len(heading), 4 * SIDE
    edges = [(i, i + 1, 0.02) for i in range(n - 1)]
    edges += [(i, j, 0.03) for i in range(n) for j in range(i + lap, n, lap)]
    with open(path, "w", encoding="utf-8") as file:
        for i, theta in enumerate(heading):
            file.write(f"VERTEX_SE2 {i} 0 0 {theta:.6f}\n")
        for i, j, noise in edges:
            turn = heading[j] - heading[i] + rng.normal(scale=noise)
            if j > i + 1 and rng.random() < 0.1:
                turn = rng.uniform(-np.pi, np.pi)
            information = f"100 0 0 100 0 {1 / noise**2:.0f}"
            file.write(f"EDGE_SE2 {i} {j} 1 0 {wrap(turn):.6f} {information}\n")


def main() -> tuple[float, float]:
    """Print and return the error in degrees of odometry alone and of the solution."""
    rng = np.random.default_rng(3)
    heading = np.repeat(np.arange(4 * ROUNDS), SIDE) * np.pi / 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "square.g2o"
        write_pose_graph(path, heading, rng)
        graph = gnnsync.read(path)
    solution = gnnsync.solve(graph, method="irls")

    # An edge i → j of the file is stored with src = j: its offset is θ_j - θ_i.
    chain = graph.src == graph.dst + 1
    odometry = np.concatenate([[0.0], np.cumsum(wrap(graph.offset[chain]))])
    errors = []
    for name, angles in (("odometry", odometry), ("solution", solution.angles[:, 0])):
        off = np.abs(wrap(align(angles, heading) - heading))
        errors.append(float(np.degrees(np.sqrt((off**2).mean()))))
        print(f"{name}: {errors[-1]:.2f}° off (root mean square)")
    return errors[0], errors[1]


if __name__ == "__main__":
    main()
