"""`gnnsync list [DIR]`: the runs in a folder, the newest last."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from gnnsync.cli.terminal.errors import exit_code
from gnnsync.cli.terminal.parser import OneLineParser
from gnnsync.errors import printable
from gnnsync.results.listing import (
    FAILED,
    FINISHED,
    RUNNING,
    STATUSES,
    RunFolder,
    find_runs,
    summarise_run,
)

OUTPUTS = Path("outputs")
_SHOWN = 30
# Characters of a method or data set in the table; `gnnsync show` and --json have all.
_LONGEST = 60
_COLUMNS = ("run", "date", "method", "data", "MSE", "status")
_STYLES = {FINISHED: "green", FAILED: "red", RUNNING: "cyan"}


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code."""
    arguments = parser().parse_args(argv)
    return exit_code("gnnsync list", lambda: _run(arguments))


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = OneLineParser(
        "gnnsync list",
        description="List runs, the newest last: folder, date, method, data, mean squared error "
        "and whether each is finished, failed, running or interrupted.",
    )
    made.add_argument(
        "directory",
        nargs="?",
        type=Path,
        default=OUTPUTS,
        metavar="DIR",
        help="folder of a sweep or of several (default: outputs)",
    )
    made.add_argument(
        "-n", type=int, default=_SHOWN, metavar="N", help=f"runs to show (default {_SHOWN}; 0: all)"
    )
    made.add_argument("--status", choices=STATUSES, help="only runs with this status")
    made.add_argument("--json", action="store_true", help="print a JSON list")
    return made


def _run(arguments: argparse.Namespace) -> None:
    top = arguments.directory
    runs = [r for r in find_runs(top) if arguments.status in (None, r.status)]
    shown = runs[-arguments.n :] if arguments.n > 0 else runs
    entries = [_entry(run, top) for run in shown]
    if arguments.json:
        print(json.dumps(entries, indent=1))
        return
    if not runs:
        what = f"{arguments.status} run" if arguments.status else "run"
        print(f"no {what} in {top}")
        return
    rows = [_row(entry) for entry in entries]
    if sys.stdout.isatty():
        _print_table(rows)
    else:
        print("\n".join(_aligned([_COLUMNS, *rows])))
    if len(shown) < len(runs):
        print(f"the last {len(shown):,} of {len(runs):,} runs in {top}; -n 0 shows all")


def _entry(run: RunFolder, top: Path) -> dict[str, Any]:
    about = summarise_run(run)
    name = run.path.name if run.path == top else run.path.relative_to(top).as_posix()
    return {
        "run": name,
        "folder": str(run.path),
        "hash": run.short_hash,
        "date": datetime.fromtimestamp(run.time).isoformat(timespec="seconds"),
        "method": about.method,
        "data": about.data,
        "mse": about.mse,
        "mse_std": about.mse_std,
        "status": run.status,
        "reason": about.reason,
    }


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    mse = "" if entry["mse"] is None else f"{entry['mse']:.3g} ± {entry['mse_std']:.2g}"
    date = entry["date"].replace("T", " ")[:16]
    run, method, data = (printable(entry[name]) for name in ("run", "method", "data"))
    method, data = _cut(method), _cut(data)
    return run, date, method, data, mse, entry["status"]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _print_table(rows: list[tuple[str, ...]]) -> None:
    # Only a terminal needs it, and it takes 0.1 s to load.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold")
    for name in _COLUMNS:
        table.add_column(name, overflow="fold", no_wrap=name in ("date", "MSE", "status"))
    for row in rows:
        cells = [Text(text) for text in row]
        cells[-1].stylize(_STYLES.get(row[-1], "yellow"))
        table.add_row(*cells)
    Console().print(table)
