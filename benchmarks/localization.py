"""Points from distances, beside what is possible: `python -m benchmarks.localization --help`.

Per map, noise level and share of gross errors it locates several draws, and compares the root mean
square error of the localizable points with the same refinement started from the truth, with the
Cramér-Rao bound, and with SMACOF, MDS-MAP and, on small networks, the semidefinite relaxation.
Rows are appended to a file as they are measured, one per draw; those that are there are kept.

    python -m benchmarks.localization run --rows localization.jsonl
    python -m benchmarks.localization table --rows localization.jsonl
    python -m benchmarks.localization scale --points 2500 5000 10000
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Before NumPy is imported: it reads these once.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
from gnnsync.localization.pipeline import Localization  # noqa: E402

from gnnsync.data import DistanceNetworks  # noqa: E402
from gnnsync.data.located import References  # noqa: E402
from gnnsync.data.points import Letters, PointSource, USCities  # noqa: E402
from gnnsync.data.shapes import CShape, SquareWithHoles, UniformSquare  # noqa: E402
from gnnsync.distance_network import DistanceNetwork  # noqa: E402
from gnnsync.localization.peers import (  # noqa: E402
    Majorisation,
    MDSMap,
    Relaxation,
    Smacof,
)
from gnnsync.positions import Positions, position_ane, position_rmse  # noqa: E402

MAPS: dict[str, PointSource] = {
    "us_cities": USCities(),
    "letters": Letters(),
    "uniform": UniformSquare(),
    "c_shape": CShape(),
    "holes": SquareWithHoles(),
    "small": UniformSquare(n=100),
}
PEERS = {
    "smacof": Smacof(),
    "smacof_relative": Smacof(majorisation=Majorisation("relative")),
    "mds_map": MDSMap(),
    "mds_map_refined": MDSMap(refined=True),
    "relaxation": Relaxation(),
}
# The relaxation takes small networks only.
_SMALL = 150
KEYS = ("map", "degree", "eta", "outliers", "seed")
Row = dict[str, Any]


def main() -> None:
    options = _options()
    if options.task == "scale":
        for n in options.points:
            print(scale_line(n, options.eta[0], options.degree[0]), flush=True)
        return
    rows = read_rows(options.rows)
    if options.task == "run":
        _run(options, rows)
    print(table(rows))


def _run(options: argparse.Namespace, rows: list[Row]) -> None:
    done = {tuple(row[key] for key in KEYS) for row in rows}
    seeds = [10 * (i + 1) for i in range(options.draws)]
    cells = itertools.product(options.maps, options.degree, options.eta, options.outliers, seeds)
    for cell in cells:
        if cell not in done:
            row = measure(dict(zip(KEYS, cell, strict=True)), options.peers)
            rows.append(row)
            with options.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(*cell, f"{row['rmse'] / row['from_truth']:.3f}", flush=True)


def measure(cell: Mapping[str, Any], peers: list[str]) -> Row:
    """One draw: errors of the map and of the peers over the localizable points, and seconds."""
    steps = Localization()
    options = {key: cell[key] for key in ("degree", "eta", "outliers")}
    data = DistanceNetworks(MAPS[cell["map"]], steps, seeds=[cell["seed"]], **options)
    network, seed = data.network(cell["seed"]), cell["seed"]
    found, seconds = _timed(steps, network, seed)
    references = data.references(seed)
    row = {**cell, **_errors("", found, network, references), "seconds": seconds}
    row |= {name.removeprefix("rmse_"): value for name, value in references.columns.items()}
    row["localizable"] = float(references.scored.mean())
    row["reflections_wrong"] = found.diagnostics.get("reflections_wrong")
    for name in peers:
        if name != "relaxation" or network.num_points <= _SMALL:
            other, seconds = _timed(PEERS[name], network, seed)
            row |= _errors(f"_{name}", other, network, references) | {f"seconds_{name}": seconds}
    return row


def scale_line(n: int, eta: float, degree: float) -> str:
    """Time and memory of one large network."""
    steps = Localization()
    data = DistanceNetworks(UniformSquare(n=n), steps, degree=degree, eta=eta, seeds=[10])
    network = data.network(10)
    wall = time.perf_counter()
    found, seconds = _timed(steps, network, 10)
    wall = time.perf_counter() - wall
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    error = position_rmse(found.points, network, found.localizable)
    best = steps.refinement(network, data.points, seed=10)
    ratio = error / position_rmse(best.points, network, found.localizable)
    return (
        f"| {n} | {network.num_edges} | {seconds:.0f} s | {wall:.0f} s | {largest:.0f} MB "
        f"| {ratio:.3f} |"
    )


def _timed(locate: Any, network: DistanceNetwork, seed: int) -> tuple[Positions, float]:
    """Positions, and the processor time that they took."""
    start = time.process_time()
    found = locate(network, seed=seed)
    return found, time.process_time() - start


def _errors(
    suffix: str, found: Positions, network: DistanceNetwork, references: References
) -> dict[str, float]:
    scored = references.scored
    return {
        f"rmse{suffix}": position_rmse(found.points, network, scored),
        f"ane{suffix}": position_ane(found.points, network, scored),
    }


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, none if there is no file."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(rows: list[Row]) -> str:
    """One line per cell: errors over the reference, which are root mean squares over the draws."""
    cells: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        cells[tuple(row[key] for key in KEYS[:-1])].append(row)
    peers = [name for name in PEERS if any(f"rmse_{name}" in row for row in rows)]
    heads = ["map", "degree", "η", "gross errors", "draws", "localizable", "RMSE", "ANE"]
    heads += ["from the truth", "ratio", "bound", "bound ratio", *peers, "seconds", "SMACOF, s"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for cell, draws in sorted(cells.items(), key=str):
        lines.append("| " + " | ".join(_columns(cell, draws, peers)) + " |")
    return "\n".join(lines)


def _columns(cell: tuple[Any, ...], draws: list[Row], peers: list[str]) -> list[str]:
    rmse, bound = _pooled(draws, "rmse"), _pooled(draws, "limit")
    # With gross errors the reference does not have them.
    name = "from_truth_clean" if cell[3] else "from_truth"
    best = _pooled(draws, name)
    noisy = cell[2] > 0

    def over(value: float | None) -> str:
        return "–" if value is None else f"{value / best:.3f}" if noisy else f"{value:.2g}"

    shown = [*map(str, cell), str(len(draws))]
    shown += [f"{np.mean([row['localizable'] for row in draws]):.3f}", f"{rmse:.4g}"]
    shown += [f"{max(row['ane'] for row in draws):.2g}", f"{best:.4g}", over(rmse), f"{bound:.4g}"]
    shown.append(f"{rmse / bound:.3f}" if noisy else "–")
    shown += [over(_pooled(draws, f"rmse_{peer}")) for peer in peers]
    for key in ("seconds", "seconds_smacof"):
        known = [row[key] for row in draws if key in row]
        shown.append(f"{np.mean(known):.1f}" if known else "–")
    return shown


def _pooled(draws: list[Row], key: str) -> float | None:
    """Root mean square over the draws."""
    values = [row[key] for row in draws if key in row]
    return float(np.sqrt(np.mean(np.square(values)))) if values else None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("run", "table", "scale"))
    parser.add_argument("--rows", type=Path, default=Path("localization.jsonl"))
    parser.add_argument(
        "--maps", nargs="+", choices=MAPS, default=["us_cities", "letters", "uniform"]
    )
    parser.add_argument("--degree", nargs="+", type=float, default=[12.0])
    parser.add_argument("--eta", nargs="+", type=float, default=[0.0, 0.05, 0.1, 0.2, 0.3])
    parser.add_argument("--outliers", nargs="+", type=float, default=[0.0, 0.1])
    parser.add_argument("--draws", type=int, default=10, help="seeds 10, 20, ...")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--points", nargs="+", type=int, default=[2500, 5000, 10000])
    return parser.parse_args()


if __name__ == "__main__":
    main()
