"""Points from distances, beside what is possible: `python -m benchmarks.localization --help`.

Per map, noise level and share of gross errors it locates several draws, and compares the root mean
square error of the localizable points with the same refinement started from the truth, with the
Cramér-Rao bound, and with SMACOF, MDS-MAP and, on small networks, the semidefinite relaxation.
Rows are appended to a file as they are measured; what is there is not measured again.

    python -m benchmarks.localization run --rows localization.jsonl
    python -m benchmarks.localization run --rows localization.jsonl --draws 3 --peers smacof
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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Before NumPy is imported: it reads these once.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from gnnsync.data import DistanceNetworks  # noqa: E402
from gnnsync.data.points import Letters, PointSource, USCities  # noqa: E402
from gnnsync.data.shapes import CShape, SquareWithHoles, UniformSquare  # noqa: E402
from gnnsync.localization.peers import (  # noqa: E402
    Majorisation,
    MDSMap,
    Relaxation,
    Smacof,
)
from gnnsync.localization.pipeline import Localization  # noqa: E402
from gnnsync.position_limits import position_bound  # noqa: E402
from gnnsync.positions import position_ane, position_rmse  # noqa: E402

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
    """All cells with the first draw, then with the second, and so on."""
    done = {tuple(row[key] for key in KEYS): row for row in rows}
    seeds = [10 * (i + 1) for i in range(options.draws)]
    cells = itertools.product(seeds, options.maps, options.degree, options.eta, options.outliers)
    for seed, *cell in cells:
        key = (*cell, seed)
        row = done.setdefault(key, dict(zip(KEYS, key, strict=True)))
        wanted = [name for name in ("", *options.peers) if _column(name) not in row]
        if found := measure(row, wanted):
            if len(row) == len(KEYS):
                rows.append(row)
            row |= found
            with options.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps({k: row[k] for k in KEYS} | found) + "\n")
            print(*key, *wanted, flush=True)


def _column(peer: str) -> str:
    """The column of its error; that of the pipeline for no name."""
    return f"rmse_{peer}" if peer else "rmse"


def measure(cell: Mapping[str, Any], wanted: Sequence[str]) -> Row:
    """One draw: errors and processor seconds of the peers that are wanted; "" is the pipeline.

    With the pipeline come its references: the bound, and the refinement from the truth.
    """
    steps, seed = Localization(), cell["seed"]
    options = {key: cell[key] for key in ("degree", "eta", "outliers")}
    data = DistanceNetworks(MAPS[cell["map"]], steps, seeds=[seed], **options)
    network = data.network(seed)
    assert network.outlier is not None
    clean = network.keep_edges(~network.outlier)
    # Which points are scored does not depend on the deviations.
    scored = position_bound(clean, deviation=np.ones(clean.num_edges)).scored
    row: Row = {}
    for name in wanted:
        if name == "relaxation" and network.num_points > _SMALL:
            continue
        start = time.process_time()
        found = PEERS[name](network, seed=seed) if name else steps(network, seed=seed)
        end = f"_{name}" if name else ""
        row[f"seconds{end}"] = time.process_time() - start
        row[f"rmse{end}"] = position_rmse(found.points, network, scored)
        row[f"ane{end}"] = position_ane(found.points, network, scored)
        if not name:
            row |= data.references(seed).columns
            row["localizable"] = float(scored.mean())
            row["reflections_wrong"] = found.diagnostics.get("reflections_wrong")
    return row


def scale_line(n: int, eta: float, degree: float) -> str:
    """Time and memory of one large network."""
    steps = Localization()
    data = DistanceNetworks(UniformSquare(n=n), steps, degree=degree, eta=eta, seeds=[10])
    network = data.network(10)
    wall, seconds = time.perf_counter(), time.process_time()
    found = steps(network, seed=10)
    wall, seconds = time.perf_counter() - wall, time.process_time() - seconds
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    error = position_rmse(found.points, network, found.localizable)
    best = steps.refinement(network, data.points, seed=10)
    ratio = error / position_rmse(best.points, network, found.localizable)
    return (
        f"| {n} | {network.num_edges} | {seconds:.0f} s | {wall:.0f} s | {largest:.0f} MB "
        f"| {ratio:.3f} |"
    )


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, whose lines are parts of them; none if there is no file."""
    if not path.is_file():
        return []
    rows: dict[tuple[Any, ...], Row] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        part = json.loads(line)
        rows[tuple(part[key] for key in KEYS)] |= part
    return list(rows.values())


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
    # With gross errors the reference does not have them.
    best = "rmse_from_truth_clean" if cell[3] else "rmse_from_truth"
    ours = [row for row in draws if "rmse" in row]
    noisy = cell[2] > 0
    shown = [*map(str, cell), str(len(ours))]
    shown.append(f"{np.mean([row['localizable'] for row in ours]):.3f}" if ours else "–")
    shown += [_pooled(ours, "rmse"), f"{max((row['ane'] for row in ours), default=np.nan):.2g}"]
    shown += [_pooled(ours, best), _pooled(ours, "rmse", best if noisy else None)]
    shown += [_pooled(ours, "rmse_limit"), _pooled(ours, "rmse", "rmse_limit" if noisy else None)]
    shown += [_pooled(draws, f"rmse_{peer}", best if noisy else None) for peer in peers]
    for key in ("seconds", "seconds_smacof"):
        known = [row[key] for row in draws if key in row]
        shown.append(f"{np.mean(known):.1f}" if known else "–")
    return shown


def _pooled(draws: list[Row], key: str, unit: str | None = None) -> str:
    """Root mean square over the draws that have it, in units of that of another column."""
    known = [row for row in draws if key in row and (unit is None or unit in row)]
    if not known:
        return "–"
    value = np.sqrt(np.mean([row[key] ** 2 for row in known]))
    if unit is None:
        return f"{value:.3g}"
    return f"{value / np.sqrt(np.mean([row[unit] ** 2 for row in known])):.3f}"


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
