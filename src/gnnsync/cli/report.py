"""`gnnsync report`: from folders of results to figures, tables and a page."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from gnnsync.errors import GnnsyncError
from gnnsync.report.build import PAGE, ROWS, Report, write_report

BAD_INPUT = 2
_SHOWN = 10


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        report = write_report(
            arguments.directories,
            arguments.output,
            together=arguments.together,
            workers=arguments.workers,
        )
    except GnnsyncError as error:
        print(f"gnnsync: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("gnnsync: interrupted", file=sys.stderr)
        return 130
    _tell(report)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gnnsync report",
        description="Collect the results of sweeps into one table, figures as in the paper, tables "
        "with the best in bold, and one page (index.html) that works offline. Incomplete sweeps "
        "are reported as far as they are, with a list of what is missing.",
    )
    parser.add_argument(
        "directories",
        nargs="+",
        type=Path,
        metavar="DIR",
        help="folder of a sweep, of a job, or of several sweeps",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="where to write (default: DIR/report; ./report if several folders are given)",
    )
    parser.add_argument(
        "--together",
        action="store_true",
        help="draw all sweeps in the same figures and tables instead of one set for each",
    )
    parser.add_argument(
        "--workers",
        type=_positive,
        default=min(4, os.cpu_count() or 1),
        metavar="N",
        help="processes that draw (default: one per core, at most 4)",
    )
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value}: must be at least 1")
    return value


def _tell(report: Report) -> None:
    """What there is, and what is missing."""
    found = report.collection
    print(f"{len(found.rows):,} rows of {len(found.lines):,} jobs in {report.folder}:")
    print(f"  {PAGE}, {ROWS}, {len(report.figures)} figures, {len(report.tables)} tables")
    if found.duplicates:
        print(f"{found.duplicates:,} jobs were found twice and counted once")
    if not found.absent:
        return
    counts = Counter(job.state for job in found.absent)
    told = ", ".join(f"{counts[s]:,} {s}" for s in ("failed", "unfinished", "missing") if counts[s])
    print(f"{len(found.absent):,} jobs without a result: {told}")
    for job in found.absent[:_SHOWN]:
        print(f"  {job.state}: {job.line or job.job_hash}: {job.reason}")
    if len(found.absent) > _SHOWN:
        print(f"  and {len(found.absent) - _SHOWN:,} more, listed in {PAGE}")
