"""False loop closures in 2D pose graphs: `python -m benchmarks.pose_graphs FOLDER --help`.

Adds false closures to every .g2o of a folder, solves each graph by several methods, GTSAM's
graduated non-convexity among them, and measures what they made of it. `--generated` makes graphs
where there is no folder. Every row is stored as soon as it is known, and an interrupted run
continues where it stopped; `--report` writes the table and the figure of all rows.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import gnnsync
from benchmarks.machine import describe
from benchmarks.pose_report import write_report
from benchmarks.pose_row import GTSAM, POSES
from benchmarks.pose_truth import heading_optimum, linear_positions, pose_optimum
from benchmarks.pose_world import manhattan
from gnnsync.data.false_closures import HEADINGS, KINDS
from gnnsync.io import read_poses, write_poses
from gnnsync.io.files import write_text
from gnnsync.methods import METHODS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "pose_graphs.jsonl"
PAGE = ROOT / "docs" / "pose_benchmark.md"
WANTED = ("auto", "gnc_angles", "spectral_rn", "irls", GTSAM, POSES)
# What makes a row: two rows that agree in these are the same measurement.
KEY = ("graph", "digest", "count", "kind", "heading", "seed", "method")
# Kind and heading of a cell without false closures.
_NONE = "none"
_FAILED = "failed"  # status of a cell that raised an error, with its last line
_DIGEST = 8  # characters of the hash that tells files of the same name apart


@dataclass(frozen=True)
class Graph:
    """A pose graph to be solved, and its references."""

    name: str
    file: Path
    truth: Path
    digest: str
    poses: int
    closures: int


def main(arguments: list[str] | None = None) -> None:
    options = _options(arguments)
    rows = Rows(options.results)
    with tempfile.TemporaryDirectory() as scratch:
        asked = options.folder or options.generated
        for graph in _graphs(options, Path(scratch)) if asked else ():
            cells = [cell for cell in _cells(graph, options) if options.again or cell not in rows]
            _run(graph, cells, rows, options)
    if options.report:
        page = PAGE if options.results == RESULTS else None
        for path in write_report(list(rows.by_key.values()), options.results, page):
            print(f"written {path}")


class Rows:
    """The stored rows, one JSON object per line; the file is written whole after each row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        rows = [json.loads(line) for line in text.splitlines()]
        self.by_key = {self._key(row): row for row in rows}

    def add(self, row: dict[str, Any]) -> None:
        self.by_key[self._key(row)] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path, "".join(json.dumps(row) + "\n" for row in self.by_key.values()))

    def __contains__(self, cell: dict[str, Any]) -> bool:
        """Whether the cell is measured; one that raised an error is to be tried again."""
        status = self.by_key.get(self._key(cell), {"status": _FAILED})["status"]
        return not status.startswith(_FAILED)

    @staticmethod
    def _key(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in KEY)


def _run(
    graph: Graph, cells: list[dict[str, Any]], rows: Rows, options: argparse.Namespace
) -> None:
    """Solve the cells of one graph, each in its own process."""
    stated = {
        "poses": graph.poses,
        "closures": graph.closures,
        "date": time.strftime("%Y-%m-%d"),
        "machine": describe()["processor"],
        "versions": {name: _version(name) for name in ("gnnsync", "gtsam", "numpy", "scipy")},
    }
    with ThreadPoolExecutor(options.workers) as pool:
        tasks = {pool.submit(_solve, graph, cell, options.limit): cell for cell in cells}
        for done in as_completed(tasks):
            row = tasks[done] | done.result() | stated
            rows.add(row)
            print(_line(row), flush=True)


def _solve(graph: Graph, cell: dict[str, Any], limit: float) -> dict[str, Any]:
    """The figures of one cell and `status`: ok, time limit, or the last line of an error."""
    task = {"file": str(graph.file), "truth": str(graph.truth), "cell": cell}
    try:
        child = subprocess.run(
            [sys.executable, "-m", "benchmarks.pose_row"],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"status": f"time limit of {limit:g} s"}
    if child.returncode:
        lines = child.stderr.strip().splitlines()
        return {"status": f"{_FAILED}: {lines[-1] if lines else f'exit code {child.returncode}'}"}
    return {"status": "ok"} | json.loads(child.stdout.splitlines()[-1])


def _graphs(options: argparse.Namespace, scratch: Path) -> Iterator[Graph]:
    """The graphs of the folder, then the generated ones, with their references computed."""
    files = sorted(options.folder.glob("*.g2o")) if options.folder else []
    if options.graphs:
        files = [file for file in files if file.stem in options.graphs]
    for n in options.generated:
        file = scratch / f"manhattan-{n}.g2o"
        write_poses(manhattan(n, np.random.default_rng(0))[0], file)
        files.append(file)
    if not files:
        raise SystemExit(f"{options.folder}: holds no .g2o that is asked for")
    for file in files:
        graph = read_poses(file)
        headings = heading_optimum(graph.rotations)
        # Without GTSAM the headings of both references are the same.
        reference = pose_optimum if find_spec("gtsam") else linear_positions
        poses = reference(graph, headings)
        truth = scratch / f"{file.stem}.npz"
        np.savez(truth, headings=headings, poses=poses)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:_DIGEST]
        closures = int(graph.closures.sum())
        print(f"{file.stem}: {graph.num_poses} poses, {closures} closures", flush=True)
        yield Graph(file.stem, file, truth, digest, graph.num_poses, closures)


def _cells(graph: Graph, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every combination asked for; one cell without false closures, whatever the kinds."""
    counts = {*options.counts, *(round(share * graph.closures) for share in options.shares)}
    for count in sorted(counts):
        kinds = options.kinds if count else [_NONE]
        for kind in kinds:
            for seed in range(options.seeds if count else 1):
                for method in options.methods:
                    yield {
                        "graph": graph.name,
                        "digest": graph.digest,
                        "count": count,
                        "kind": kind,
                        "heading": options.heading if count else _NONE,
                        "seed": seed,
                        "method": method,
                    }


def _line(row: dict[str, Any]) -> str:
    cell = f"{row['graph']} +{row['count']} {row['kind']} {row['heading']} #{row['seed']}"
    if row["status"] != "ok":
        return f"{cell} {row['method']}: {row['status']}"
    figures = ", ".join(
        f"{name} {row[name]:.3f}"
        for name in ("right", "mse", "precision", "recall", "calibration")
        if row[name] is not None
    )
    return f"{cell} {row['method']}: {figures}, {row['seconds']:.2f} s"


def _version(package: str) -> str | None:
    return importlib.metadata.version(package) if find_spec(package) else None


def _available() -> list[str]:
    """The methods of the benchmark that can run here."""
    present = {GTSAM: find_spec("gtsam") is not None, POSES: hasattr(gnnsync, "solve_poses")}
    return [name for name in WANTED if present.get(name, name in METHODS)]


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folder", type=Path, nargs="?", help="a folder of .g2o files")
    add("--generated", type=_numbers(int), default=[], metavar="N,...", help="graphs of N poses")
    add("--graphs", type=_names, default=[], help="only these files, without .g2o")
    add("--counts", type=_numbers(int), default=None, help="false closures (default 0,20,100)")
    add("--shares", type=_numbers(float), default=[], help="the same as shares of the true ones")
    add("--kinds", type=_names, default=["random"], help="some of " + ", ".join(KINDS))
    add("--heading", choices=HEADINGS, default="normal", help="law of a false heading")
    add("--methods", type=_names, default=_available(), help="default: " + ",".join(_available()))
    add("--seeds", type=int, default=1, help="draws of the false closures")
    add("--limit", type=float, default=300.0, help="seconds for one solution (default 300)")
    add("--workers", type=int, default=1, help="solutions at the same time (default 1)")
    add("--again", action="store_true", help="measure what is already stored, too")
    add("--results", type=Path, default=RESULTS, help="file of the rows (.jsonl)")
    add("--report", action="store_true", help="write table and figure of all stored rows")
    options = parser.parse_args(arguments)
    if options.counts is None:
        options.counts = [] if options.shares else [0, 20, 100]
    known = {"--kinds": (options.kinds, KINDS), "--methods": (options.methods, [*METHODS, *WANTED])}
    for name, (given, allowed) in known.items():
        for value in given:
            if value not in allowed:
                parser.error(f"{name} {value}: must be some of {', '.join(allowed)}")
    if options.folder and not options.folder.is_dir():
        parser.error(f"{options.folder}: no such folder")
    if not (options.folder or options.generated or options.report):
        parser.error("give a folder of .g2o files, or --generated 1000")
    return options


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _numbers(kind: type) -> Any:
    def parse(text: str) -> list[Any]:
        return [kind(value) for value in _names(text)]

    return parse


if __name__ == "__main__":
    main()
