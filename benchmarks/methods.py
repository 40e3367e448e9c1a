"""Speed, memory and accuracy of the classical methods.

    python -m benchmarks.methods             ratios to one bare eigenvector computation
    python -m benchmarks.methods --memory    peak memory at n = 100,000 and m = 1,000,000
    python -m benchmarks.methods --accuracy  mean MSE on the paper's ER networks, as a table

Set OMP_NUM_THREADS=1 for figures of one thread.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
from rich.progress import track
from scipy.sparse.linalg import eigsh

from benchmarks.section import Section, spread
from gnnsync import MeasurementGraph
from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.data.priors import GammaAngles
from gnnsync.data.synthetic import SyntheticDataModule
from gnnsync.limits import instance_limit, spectral_band
from gnnsync.methods import METHODS
from gnnsync.metrics import angular_mse

MODELS = {"ERO": erdos_renyi, "RGGO": random_geometric}
ETAS = (0.3, 0.5, 0.7, 0.8)
LARGE = ("spectral", "spectral_rn", "gpm", "irls")


def networks(model: str, eta: float, seeds: tuple[int, ...]) -> list[MeasurementGraph]:
    return SyntheticDataModule(MODELS[model], GammaAngles(), 360, 0.15, eta, seeds=seeds).graphs


def measure(repeats: int = 9) -> Section:
    """Processor time of a solve over that of a bare `eigsh` call.

    As the bare call is given its matrix, so are the methods: matrix and components of the graph
    are built before the clock starts. Triangles are not.
    """
    section = Section(
        "Classical methods against one bare `eigsh` (n = 360, p = .15, η = .5, one thread)",
        ("method", "ERO", "RGGO"),
        [[name] for name in METHODS],
    )
    for model in MODELS:
        graph = networks(model, 0.5, (10,))[0]
        seconds: dict[str, list[float]] = {name: [] for name in ("eigsh", *METHODS)}
        # Interleaved, so that a busy machine slows all alike.
        for seed in track(range(repeats), description=f"methods, {model}"):
            for name in seconds:
                fresh = graph.replace(angles=None, group=None)
                matrix, _ = fresh.hermitian, fresh.components
                start = time.process_time()
                if name == "eigsh":
                    eigsh(matrix, k=1, which="LA")
                else:
                    METHODS[name]()(fresh, seed=seed)
                seconds[name].append(time.process_time() - start)
        bare = np.array(seconds["eigsh"])
        for row in section.rows:
            ratio = np.array(seconds[row[0]]) / bare
            section.figures.setdefault(row[0], {})[model] = float(np.median(ratio))
            row.append(spread(ratio))
        section.note += (
            f"{model}: {graph.num_edges} edges, {len(graph.triangles)} triangles, "
            f"`eigsh` {1e3 * np.median(bare):.1f} ms. "
        )
    return section


def print_memory() -> None:
    """Each method in a process of its own, whose peak counts the graph and the interpreter."""
    print("| method | seconds | iterations | stopped | MSE | peak GiB |")
    print("|---|---|---|---|---|---|")
    for name in LARGE:
        sys.stdout.flush()
        subprocess.run([sys.executable, "-m", "benchmarks.methods", "--large", name], check=True)


def print_large(name: str, n: int = 100_000, m: int = 1_000_000, eta: float = 0.4) -> None:
    rng = np.random.default_rng(0)
    src = rng.integers(n, size=m)
    dst = (src + rng.integers(1, n, size=m)) % n
    truth = rng.uniform(0, 2 * np.pi, n)
    outlier = rng.random(m) < eta
    offset = np.where(outlier, rng.uniform(0, 2 * np.pi, m), truth[src] - truth[dst])
    graph = MeasurementGraph(np.stack([src, dst]), offset, n)
    solution = METHODS[name]()(graph)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    mse = angular_mse(solution.angles, truth)
    print(
        f"| {name} | {solution.seconds:.1f} | {solution.iterations} | {solution.stop_reason} "
        f"| {mse:.4f} | {peak:.2f} |"
    )


def print_accuracy() -> None:
    """Mean ± standard deviation over five ER networks, n = 360, p = .15, gamma angles."""
    print("| method | " + " | ".join(f"η = {eta:g}" for eta in ETAS) + " |")
    print("|---" * (1 + len(ETAS)) + "|")
    cells = {eta: networks("ERO", eta, (10, 20, 30, 40, 50)) for eta in ETAS}
    for name, kind in METHODS.items():
        row = []
        for graphs in cells.values():
            mse = [angular_mse(kind()(graph).angles, graph.angles) for graph in graphs]
            row.append(f"{np.mean(mse):.4f} ± {np.std(mse):.4f}")
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)
    bands = [spectral_band(359 * 0.15, eta) for eta in ETAS]
    print("| *spectral, theory* | " + " | ".join(f"{a:.4f} to {b:.4f}" for a, b in bands) + " |")
    limits = [[instance_limit(graph) for graph in graphs] for graphs in cells.values()]
    for title, field in (("oracle limit", "oracle"), ("certifiable limit", "certifiable")):
        means = [np.mean([getattr(limit, field) for limit in cell]) for cell in limits]
        print(f"| *{title}* | " + " | ".join(f"{value:.4f}" for value in means) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--memory", action="store_true", help="peak memory of large solves")
    choice.add_argument("--accuracy", action="store_true", help="mean MSE on ER networks")
    choice.add_argument("--large", choices=list(METHODS), help="one large solve, in this process")
    arguments = parser.parse_args()
    if arguments.memory:
        print_memory()
    elif arguments.large:
        print_large(arguments.large)
    elif arguments.accuracy:
        print_accuracy()
    else:
        print(measure().markdown())


if __name__ == "__main__":
    main()
