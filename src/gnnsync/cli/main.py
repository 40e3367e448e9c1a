"""The command `gnnsync`: one function per command, each of which loads what it needs, no more."""

from __future__ import annotations

import difflib
import os
import signal
import sys
from typing import NoReturn

from gnnsync import __version__
from gnnsync.cli.commands import COMMANDS
from gnnsync.experiments.config.command_line import with_override
from gnnsync.experiments.exit_codes import BAD_INPUT, INTERRUPTED
from gnnsync.experiments.signals import ENDING, ending_signals, exit_code_of

USAGE = """\
usage: gnnsync COMMAND ...

commands:
  run         train or solve by config: gnnsync run data=rggo data.p=0.15 loss=cycle
                -m runs every combination of comma-separated values, -v prints the whole config
  solve       angles from offsets in a file: gnnsync solve offsets.csv --output angles.csv
  locate      points from distances in a file: gnnsync locate distances.csv --output points.csv
  report      figures, tables and a page from results: gnnsync report outputs/demo
  list        runs with date, method, data, error and status: gnnsync list outputs
  show        command, errors, config and files of a run: gnnsync show latest
  completion  tab completion in a shell: eval "$(gnnsync completion bash)"

gnnsync COMMAND --help lists the options of a command.
"""


def main(argv: list[str] | None = None) -> int:
    """Dispatch to a command; returns the exit code, except for `run`, which replaces this process.

    Args:
        argv: arguments without the program's name; those of this process by default.
    """
    try:
        with ending_signals():
            return _dispatch(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt as interrupt:  # while a command loads its libraries
        print("gnnsync: interrupted", file=sys.stderr)
        return exit_code_of(interrupt) or INTERRUPTED


def _dispatch(arguments: list[str]) -> int:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if command == "--version":
        print(f"gnnsync {__version__}")
        return 0
    if command == "run":
        start_run(rest)
    if command == "solve":
        # Loads NumPy and SciPy, which `gnnsync --help` does without.
        from gnnsync.cli.solve.command import main as solve

        return solve(rest)
    if command == "locate":
        # Loads NumPy and SciPy, as above.
        from gnnsync.cli.locate.command import main as locate

        return locate(rest)
    if command == "report":
        # Loads pandas and Matplotlib, which only reports need.
        from gnnsync.cli.report import main as report

        return report(rest)
    if command == "list":
        # Loads what reads results.
        from gnnsync.cli.list import main as list_runs

        return list_runs(rest)
    if command == "show":
        # Loads YAML and Hydra, for the default config.
        from gnnsync.cli.show import main as show

        return show(rest)
    if command == "completion":
        # Loads YAML, to read the groups of configs.
        from gnnsync.cli.completion import main as completion

        return completion(rest)
    near = difflib.get_close_matches(command, COMMANDS, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    allowed = f"{hint}must be one of {', '.join(COMMANDS)}"
    print(f"gnnsync: {command or 'no command'}: {allowed}", file=sys.stderr)
    if not command:
        print(USAGE, end="", file=sys.stderr)
    return BAD_INPUT


def start_run(arguments: list[str]) -> NoReturn:
    """Replace this process by the Hydra application, which reads its own command line.

    `-P` keeps the current folder out of the import path, as for any installed command.
    """
    sys.stdout.flush()
    # Until the new process can answer Ctrl-C in one line; it unblocks the signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *ENDING})
    os.execv(sys.executable, [sys.executable, "-P", "-m", "gnnsync.cli.run", *_spelled(arguments)])


def _spelled(arguments: list[str]) -> list[str]:
    """Hydra has no option `-v`: it stands for an override."""
    rest = [text for text in arguments if text not in ("-v", "--verbose")]
    return rest if len(rest) == len(arguments) else with_override(rest, "print_config=true")
