"""What each part of `auto` contributes: `python -m benchmarks.ablation --help`.

Every part is switched off in turn (`Auto(without=...)`) on the same networks. Reported are, per
family of networks, the mean MSE, the Brier score of the node confidence (mean square of confidence
minus correctness; correct is within 0.25 rad) and the processor time per network.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.frontier import CELLS, GRAPHS, NOISY, PRIORS
from benchmarks.machine import describe
from benchmarks.pose_truth import heading_optimum
from benchmarks.robustness import MODELS, wrong_network
from gnnsync.angles import TWO_PI
from gnnsync.data import LocalizationDataModule, SyntheticDataModule
from gnnsync.data.points import Letters, USCities
from gnnsync.graph import MeasurementGraph
from gnnsync.io import read
from gnnsync.io.files import write_text
from gnnsync.methods.auto import PARTS, Auto
from gnnsync.metrics import aligned_error, angular_mse
from gnnsync.solution import NODE_TOLERANCE

RESULTS = Path(__file__).parent / "results"
WHOLE = ""
# Parts that are used for one group only, and for several groups only: elsewhere nothing changes.
ONE_GROUP = {"cemp", "noisy_nodes", "bootstrap"}
SEVERAL_GROUPS = {"growth", "spectral"}
# Share of false closures, of uniform heading, that are added to a pose graph.
FALSE_CLOSURES = 0.1
# Relative change of the mean error of a cell that counts: less is the chance of single nodes.
NOTABLE = 0.02

Cell = tuple[str, str, int, list[MeasurementGraph]]


def main() -> None:
    options = _options()
    seeds = [options.seed + 10 * i for i in range(1, options.networks + 1)]
    rows = []
    for family, name, k, networks in cells(seeds, options.poses):
        if options.families and family not in options.families.split(";"):
            continue
        whole = measure(networks, k, WHOLE)
        for part in [WHOLE, *options.parts.split(",")]:
            idle = part == WHOLE or part in (ONE_GROUP if k > 1 else SEVERAL_GROUPS)
            found = whole if idle else measure(networks, k, part)
            rows.append({"family": family, "cell": name, "without": part} | found)
        print(f"{family}: {name} done", flush=True)
    text = table(rows)
    print(text)
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stored = {"machine": describe(), "seeds": seeds, "rows": rows}
        write_text(options.output / "ablation.json", json.dumps(stored, indent=1) + "\n")
        write_text(options.output / "ablation.md", text + "\n")


def cells(seeds: list[int], poses: Path | None) -> Iterator[Cell]:
    """Family, name, k and networks of every cell."""
    for graph, k, p, eta, sigma, _ in (*CELLS, *NOISY):
        kind = "noisy" if sigma else "exact"
        family = "k > 1" if k > 1 else f"k = 1, {kind}"
        data = SyntheticDataModule(
            GRAPHS[graph],
            PRIORS["gamma"],
            n=360,
            p=p,
            eta=eta,
            k=k,
            inlier_noise=sigma,
            seeds=seeds,
        )
        yield family, f"{graph} k={k} p={p:g} η={eta:g} σ={sigma:g}", k, data.graphs
    for (graph, p), model in product((("ero", 0.05), ("rggo", 0.15)), MODELS):
        networks = [wrong_network(model, graph, p, 0.3, seed) for seed in seeds]
        connected = [network for network in networks if network.is_connected]
        yield "wrong models", f"{graph} p={p:g} η=0.3 {model}", 1, connected
    for cloud, eta in product((Letters(), USCities(evenness=0.35)), (0.1, 0.25)):
        data = LocalizationDataModule(cloud, PRIORS["gamma"], eta=eta, seeds=seeds)
        yield "maps", f"{cloud.name} η={eta:g}", 1, data.graphs
    for path in sorted(poses.glob("*.g2o")) if poses else []:
        yield "pose graphs", path.stem, 1, [_with_false_closures(path, seed) for seed in seeds]


def measure(networks: list[MeasurementGraph], k: int, part: str) -> dict[str, float]:
    """Mean MSE, Brier score and seconds of `auto` without a part."""
    found = []
    for network in networks:
        start = time.process_time()
        solution = Auto(without=part)(network, k)
        seconds = time.process_time() - start
        right = (aligned_error(solution.angles, network.angles) < NODE_TOLERANCE).all(axis=1)
        brier = float(((solution.node_confidence - right) ** 2).mean())
        found.append((angular_mse(solution.angles, network.angles), brier, seconds))
    error, brier, seconds = np.mean(found, axis=0)
    return {"mse": float(error), "brier": float(brier), "seconds": float(seconds)}


def table(rows: list[dict]) -> str:
    """Means per family without each part, and the cells that a part helps or hurts."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    parts = list(dict.fromkeys(row["without"] for row in rows))
    lines = ["| without | " + " | ".join(families) + " | cells worse without | better |"]
    lines.append("|---" * (len(families) + 3) + "|")
    for part in parts:
        mine = [row for row in rows if row["without"] == part]
        entries = [_entry([row for row in mine if row["family"] == name]) for name in families]
        change = [
            row["mse"] / max(whole["mse"], 1e-6) - 1.0
            for row, whole in zip(mine, (r for r in rows if r["without"] == WHOLE), strict=True)
            if max(row["mse"], whole["mse"]) > 1e-6
        ]
        worse, better = (sum(sign * c > NOTABLE for c in change) for sign in (1, -1))
        counts = ["–", "–"] if part == WHOLE else [str(worse), str(better)]
        lines.append(f"| {part or 'nothing'} | " + " | ".join([*entries, *counts]) + " |")
    return "\n".join(lines)


def _entry(rows: list[dict]) -> str:
    error, brier, seconds = (
        np.mean([row[key] for row in rows]) for key in ("mse", "brier", "seconds")
    )
    return f"{error:.4f}, {brier:.3f}, {seconds:.2f} s"


def _with_false_closures(path: Path, seed: int) -> MeasurementGraph:
    """The headings of a pose graph with false closures; its own optimum is taken for the truth."""
    graph = read(path)
    rng = np.random.default_rng(seed)
    closures = graph.num_edges - graph.num_nodes + 1
    count = max(round(FALSE_CLOSURES * closures), 1)
    src = rng.integers(graph.num_nodes, size=count)
    dst = (src + rng.integers(2, graph.num_nodes - 1, size=count)) % graph.num_nodes
    weight, trusted = graph.edge_weight, graph.edge_trusted
    return MeasurementGraph(
        np.concatenate([graph.edge_index, np.stack([src, dst])], axis=1),
        np.concatenate([graph.offset, rng.uniform(0.0, TWO_PI, count)]),
        graph.num_nodes,
        weight=np.concatenate([weight, np.full(count, np.median(weight))]),
        trusted=np.concatenate([trusted, np.zeros(count, dtype=bool)]),
        angles=heading_optimum(graph)[:, None],
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default=",".join(PARTS), help="with commas")
    parser.add_argument("--families", default="", help="with semicolons; all if not given")
    parser.add_argument("--poses", type=Path, help="folder of .g2o files")
    parser.add_argument("--networks", type=int, default=2, help="networks per cell")
    parser.add_argument("--seed", type=int, default=0, help="network seeds are this + 10, 20, ...")
    parser.add_argument("--output", type=Path, help=f"folder to store the table in, as {RESULTS}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
