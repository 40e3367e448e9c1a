"""`gnnsync report DIR ...`: figures, tables and a page from folders of results."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path

from gnnsync.cli.terminal.errors import exit_code
from gnnsync.cli.terminal.parser import OneLineParser
from gnnsync.report.build import PAGE, ROWS, Report, write_report

_SHOWN = 10  # jobs without a result that are printed; the page lists all
_MOST_WORKERS = 4  # each loads Matplotlib and pandas, about 0.2 GB


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code."""
    arguments = parser().parse_args(argv)
    return exit_code("gnnsync report", lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> None:
    report = write_report(
        arguments.directories,
        arguments.output,
        together=arguments.together,
        panels=arguments.panels,
        workers=arguments.workers,
    )
    _print(report)


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = OneLineParser(
        "gnnsync report",
        description="Collect the results of sweeps into one table of rows, figures and tables as "
        "in the paper, and one page (index.html) that works offline. The report of an incomplete "
        "sweep lists the jobs that have no result.",
    )
    made.add_argument(
        "directories",
        nargs="+",
        type=Path,
        metavar="DIR",
        help="folder of a sweep, of a job, or of several sweeps",
    )
    made.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder of the report (default DIR/report; ./report if several folders are given)",
    )
    made.add_argument(
        "--together",
        action="store_true",
        help="put all sweeps into the same figures and tables (default: one set for each sweep)",
    )
    made.add_argument(
        "--panels",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write each panel and each legend as files of their own, too (default: yes)",
    )
    made.add_argument(
        "--workers",
        type=_positive,
        default=min(_MOST_WORKERS, os.cpu_count() or 1),
        metavar="N",
        help=f"processes that draw figures (default: one per core, at most {_MOST_WORKERS})",
    )
    return made


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value}: must be at least 1")
    return value


def _print(report: Report) -> None:
    """Print what was written, and the jobs without a result."""
    found = report.collection
    print(f"{len(found.rows):,} rows of {len(found.lines):,} jobs in {report.folder}:")
    panels = f", {len(report.panels)} files of single panels" if report.panels else ""
    print(f"  {PAGE}, {ROWS}, {len(report.figures)} figures{panels}, {len(report.tables)} tables")
    if found.duplicates:
        print(f"{found.duplicates:,} jobs were found twice and counted once")
    if not found.absent:
        return
    counts = Counter(job.state for job in found.absent)
    states = [state for state in ("failed", "unfinished", "missing") if counts[state]]
    listed = ", ".join(f"{counts[state]:,} {state}" for state in states)
    print(f"{len(found.absent):,} jobs without a result: {listed}")
    for job in found.absent[:_SHOWN]:
        print(f"  {job.state}: {job.line or job.job_hash}: {job.reason}")
    if len(found.absent) > _SHOWN:
        print(f"  and {len(found.absent) - _SHOWN:,} more, listed in {PAGE}")
