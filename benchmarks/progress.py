"""How right the time left is that `gnnsync solve` shows: `python -m benchmarks.progress`.

Each network is solved once. The predicted total (time so far plus time left) at a third and at two
thirds of the true total is compared with it; 1 is perfect. Times are of the process, so that other
programs on the machine do not count. `--stages` also prints the seconds of every stage, from which
the costs in `gnnsync.methods.robust.costs` come.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.data.outliers import observe
from gnnsync.graph import MeasurementGraph
from gnnsync.solve import find_method
from gnnsync.work import Work, watched

# Name, graph, n, p, η, σ, k.
NETWORKS = {
    "million": (erdos_renyi, 100_000, 2e-4, 0.3, 0.1, 1),
    "million, many outliers": (erdos_renyi, 100_000, 2e-4, 0.6, 0.2, 1),
    "million, no noise": (erdos_renyi, 100_000, 2e-4, 0.3, 0.0, 1),
    "200,000 edges": (erdos_renyi, 20_000, 1e-3, 0.3, 0.1, 1),
    "100,000 edges, k = 2": (erdos_renyi, 10_000, 2e-3, 0.2, 0.1, 2),
    "geometric": (random_geometric, 3_000, 0.02, 0.3, 0.1, 1),
    "geometric, n = 360": (random_geometric, 360, 0.05, 0.3, 0.1, 1),
    "geometric, k = 2": (random_geometric, 360, 0.08, 0.3, 0.1, 2),
}


class ProcessWork(Work):
    """Work that is timed by the processor time of this process."""

    @property
    def elapsed(self) -> float:
        """Processor seconds since the work began."""
        return time.process_time() - self.process_began

    process_began = 0.0


@dataclass
class Record:
    """Predicted totals and stages in the order of time."""

    at: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    stages: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)

    def add(self, work: Work) -> None:
        """One report of the work."""
        left = work.seconds_left
        self.stages.append((work.elapsed, tuple(work.stages)))
        if left is not None:
            self.at.append(work.elapsed)
            self.total.append(work.elapsed + left)

    def ratio(self, part: float, seconds: float) -> float:
        """Predicted over true total, as it was last shown before this part of the way."""
        shown = np.searchsorted(self.at, part * seconds, "right") - 1
        return self.total[shown] / seconds if shown >= 0 else float("nan")

    def seconds(self) -> dict[tuple[str, ...], float]:
        """Seconds in each stage, those of its inner stages included."""
        total: dict[tuple[str, ...], float] = {}
        for (start, names), (end, _) in zip(self.stages, self.stages[1:], strict=False):
            for depth in range(1, len(names) + 1):
                total[names[:depth]] = total.get(names[:depth], 0.0) + end - start
        return total


def make(name: str) -> MeasurementGraph:
    """The largest component of a network of `NETWORKS`."""
    model, n, p, eta, sigma, k = NETWORKS[name]
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    graph = observe(model(n, p, 0), angles, eta, rng=rng, inlier_noise=sigma)
    largest = np.bincount(graph.components).argmax()
    return graph.subgraph(np.flatnonzero(graph.components == largest))[0]


def measure(name: str, method: str) -> tuple[float, Record]:
    """Seconds of the solution, and what was shown."""
    graph, k = make(name), NETWORKS[name][-1]
    solve = partial(find_method(method), graph.replace(angles=None, group=None), k)
    record = Record()
    work = ProcessWork(on_change=record.add)
    work.process_began = time.process_time()
    with watched(work):
        solution = solve()
    seconds = work.elapsed
    print(
        f"{name:<24} {method:<8} {graph.num_edges:>9,} {seconds:>8.2f} s  "
        f"{record.ratio(1 / 3, seconds):>6.2f} {record.ratio(2 / 3, seconds):>6.2f}   "
        f"{'converged' if solution.converged else 'NOT converged'}",
        flush=True,
    )
    return seconds, record


def main() -> None:
    """Measure what the options name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="gpm,auto", help="default %(default)s")
    parser.add_argument("--networks", default="", help="part of the names; default all")
    parser.add_argument("--stages", action="store_true", help="print the seconds of every stage")
    arguments = parser.parse_args()
    print(f"{'network':<24} {'method':<8} {'edges':>9} {'time':>10}  predicted/true at 1/3, 2/3")
    for name in NETWORKS:
        if not name.startswith(arguments.networks):
            continue
        for method in arguments.methods.split(","):
            if NETWORKS[name][-1] > 1 and not getattr(find_method(method), "any_k", False):
                continue
            _, record = measure(name, method)
            if arguments.stages:
                for names, seconds in record.seconds().items():
                    print(f"    {'  ' * len(names)}{names[-1]:<24} {seconds:.3f} s")


if __name__ == "__main__":
    main()
