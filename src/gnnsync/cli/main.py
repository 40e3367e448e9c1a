"""The command `gnnsync`: run | solve | report."""

from __future__ import annotations

import os
import sys

USAGE = """\
usage: gnnsync COMMAND ...

commands:
  run     train or solve by config: gnnsync run data=rggo data.p=0.15 loss=cycle; -m sweeps
  solve   angles from offsets in a file: gnnsync solve offsets.csv --output angles.csv
  report  figures, tables and a page from results: gnnsync report outputs/demo

gnnsync COMMAND --help tells more.
"""


def main(argv: list[str] | None = None) -> int:
    """Dispatch to a command; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if command == "--version":
        from gnnsync import __version__

        print(f"gnnsync {__version__}")
        return 0
    if command == "run":
        # Hydra hides the cause of an error five layers down unless it is told not to.
        os.environ.setdefault("HYDRA_FULL_ERROR", "1")
        from gnnsync.experiments.app import run

        return run(rest)
    if command == "solve":
        from gnnsync.cli.solve import main as solve

        return solve(rest)
    if command == "report":
        from gnnsync.cli.report import main as report

        return report(rest)
    print(f"gnnsync: {command or 'no command'}: must be one of run, solve, report", file=sys.stderr)
    print(USAGE, end="", file=sys.stderr)
    return 2
