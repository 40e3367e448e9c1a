"""Time that `auto` takes for graphs of many small components.

python -m benchmarks.chaos components
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.methods import METHODS, DisconnectedGraphWarning
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import FloatArray

NOISE, OUTLIERS = 0.1, 0.1
# Number of components and edges of each cycle; 1 edge: a pair of nodes.
CASES = ((100_000, 1), (100_000, 2), (10_000, 3), (100_000, 3), (10_000, 12))


def rings(count: int, length: int, seed: int) -> tuple[MeasurementGraph, FloatArray]:
    """Cycles of one length, a tenth of their offsets wrong, and the true angles (count, nodes)."""
    rng = np.random.default_rng(seed)
    width = max(length, 2)
    nodes = np.arange(count * width).reshape(count, width)
    src, dst = nodes[:, :length].ravel(), np.roll(nodes, -1, axis=1)[:, :length].ravel()
    theta = rng.uniform(0, 2 * np.pi, nodes.shape)
    offset = theta.ravel()[src] - theta.ravel()[dst] + NOISE * rng.standard_normal(len(src))
    wrong = rng.random(len(src)) < OUTLIERS
    offset[wrong] = rng.uniform(0, 2 * np.pi, wrong.sum())
    return MeasurementGraph(np.stack([src, dst]), offset, nodes.size), theta


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DisconnectedGraphWarning)
    print("| components | edges of each | seconds | mean squared error | nodes right |")
    print("|---|---|---|---|---|")
    for count, length in CASES:
        graph, theta = rings(count, length, options.seed)
        began = time.process_time()
        angles = METHODS["auto"]()(graph).angles.reshape(theta.shape)
        seconds = time.process_time() - began
        gap = angles - theta
        error = wrap(gap - np.angle(np.exp(1j * gap).mean(axis=1))[:, None])
        right = (np.abs(error) < NODE_TOLERANCE).mean()
        print(
            f"| {count} | {length} | {seconds:.1f} | {np.square(error).mean():.3f} | {right:.2f} |"
        )


if __name__ == "__main__":
    main([])
