"""Options that `gnnsync solve` and `gnnsync locate` share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gnnsync.errors import ParameterError
from gnnsync.io.input.source import STDIN


def add_seed_and_limit(parser: argparse.ArgumentParser, work: str, result: str) -> None:
    """`--seed` and `--time-limit`, which stops `work` with the best `result` so far."""
    parser.add_argument("--seed", type=int, default=0, help="random seed (default 0)")
    parser.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help=f"stop {work}after this time with the best {result} so far",
    )


def add_table_options(
    parser: argparse.ArgumentParser, formats: Sequence[str], table: str, example: str, texts: str
) -> None:
    """`--format`, `--columns` and `--encoding` of the input.

    Args:
        parser: of the command.
        formats: names of the formats.
        table: what has columns.
        example: titles of them.
        texts: what has an encoding.
    """
    add = parser.add_argument
    add("--format", choices=formats, help="format of FILE (default: by its ending)")
    add(
        "--columns",
        metavar="LIST",
        help=f"titles of the columns of {table}, where they are not known ones: {example}; or "
        "their numbers from 1",
    )
    add("--encoding", metavar="NAME", help=f"encoding of {texts}, such as latin-1 (UTF-8)")


def add_keep_names(parser: argparse.ArgumentParser, names: str) -> None:
    """`--keep-names`."""
    parser.add_argument(
        "--keep-names",
        action="store_true",
        help=f"read and write {names} in CSV as they are; by default one that a spreadsheet would "
        "run (=1+1) is written with an apostrophe in front, and read without it",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")


def check_standard_output(arguments: argparse.Namespace, printed: str) -> None:
    """Check what goes to standard output: `printed` with `--output -`, or the summary."""
    if arguments.edges == STDIN:
        raise ParameterError("--edges", STDIN, f"a file; --output - prints the {printed}")
    if arguments.output == STDIN and arguments.json:
        raise ParameterError("--output", STDIN, "a file with --json, whose summary is printed")
