"""Synchronise clocks from pairwise readings, some of which are wrong.

Twelve stations on a ring compare clocks of a known period with their neighbours. A reading is the
time by which one clock is ahead of another, modulo the period; one in six readings is random.
Phases are angles: a reading of r seconds is an offset of 2π·r/period.
"""

from __future__ import annotations

import numpy as np

import gnnsync

PERIOD = 60.0  # seconds
OUTLIER = 0.1  # radians, or about 1 s: ten times the noise of a good reading


def main() -> float:
    """Print how far each clock is ahead of the first; return the worst error in seconds."""
    rng = np.random.default_rng(1)
    stations = [f"station-{letter}" for letter in "ABCDEFGHIJKL"]
    ahead = rng.uniform(0, PERIOD, len(stations))

    first, second, reading = [], [], []
    for i in range(len(stations)):
        for step in (1, 2, 3, 4):
            j = (i + step) % len(stations)
            exact = ahead[i] - ahead[j] + rng.normal(scale=0.1)
            first.append(stations[i])
            second.append(stations[j])
            reading.append(rng.uniform(0, PERIOD) if rng.random() < 1 / 6 else exact)

    to_angle = 2 * np.pi / PERIOD
    graph = gnnsync.MeasurementGraph.from_edges(first, second, np.array(reading) * to_angle)
    solution = gnnsync.solve(graph, method="irls")

    # Only differences are measured: all times are relative to the first station.
    found = (solution.angles[:, 0] - solution.angles[0, 0]) / to_angle
    true = ahead - ahead[0]
    error = np.abs((found - true + PERIOD / 2) % PERIOD - PERIOD / 2)
    for name, seconds, wrong in zip(stations, found % PERIOD, error, strict=True):
        print(f"{name}  ahead by {seconds:6.2f} s  (error {wrong:.2f} s)")
    outliers = int((np.abs(solution.residual(graph)) > OUTLIER).sum())
    print(f"{outliers} of {graph.num_edges} readings contradict the rest")
    return float(error.max())


if __name__ == "__main__":
    main()
