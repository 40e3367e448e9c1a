"""The options of `gnnsync locate`, and the checks of those that write files."""

from __future__ import annotations

import argparse

from gnnsync.cli.terminal.outputs import check_drawings, check_files, check_given
from gnnsync.cli.terminal.parser import OneLineParser
from gnnsync.errors import ParameterError
from gnnsync.io.distances.distance_file import FORMATS
from gnnsync.io.distances.position_file import check_position_ending
from gnnsync.io.input.source import STDIN
from gnnsync.solve import method_names


def locate_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = OneLineParser(
        "gnnsync locate",
        description="Estimate points of the plane from measured distances between some of them.",
        epilog="FILE is .csv, .tsv, .txt or .parquet with i,j,distance[,sigma] (header and # "
        "comments optional; sigma: standard deviation); text may be compressed (.csv.gz). Without "
        "anchors the map is known up to its place, its orientation and its mirror image. Exit code "
        "2 means bad input.",
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="measured distances, or - for standard input")
    add("--anchors", metavar="FILE", help="points of known position: lines name,x,y")
    add("--format", choices=FORMATS, help="format of FILE (default: by its ending)")
    add(
        "--columns",
        metavar="LIST",
        help="titles of the columns of FILE, where they are not known ones: "
        "i=from,j=to,distance=metres; or their numbers from 1",
    )
    add("--encoding", metavar="NAME", help="encoding of the text files, such as latin-1 (UTF-8)")
    names = ", ".join(method_names())
    add(
        "--method",
        default="auto",
        metavar="NAME",
        help=f"for the rotations of the patches (default %(default)s); one of {names}",
    )
    add("--seed", type=int, default=0, help="random seed (default 0)")
    add(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="stop after this time with the best points so far",
    )
    _add_outputs(parser)
    return parser


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--output",
        "-o",
        metavar="FILE",
        help="write the points, with their deviations, to .csv, .parquet or .json; - prints CSV",
    )
    add(
        "--edges",
        metavar="FILE",
        help="write residual and confidence of each distance as CSV, or as .parquet",
    )
    add(
        "--keep-names",
        action="store_true",
        help="read and write names in CSV as they are; by default one that a spreadsheet would run "
        "(=1+1) is written with an apostrophe in front, and read without it",
    )
    add("--plot", metavar="FILE", help="write a map with 95 %% ellipses to .png, .pdf or .svg")
    add(
        "--html",
        metavar="FILE",
        help="write one page with summary, map and sortable tables, which needs no network",
    )
    add("--json", action="store_true", help="print the summary as one JSON object")


def check_outputs(arguments: argparse.Namespace) -> None:
    """Check that options agree and output files can be written, before any work is done."""
    options = ("output", "edges", "plot", "html", "anchors", "columns")
    check_given({f"--{option}": getattr(arguments, option) for option in options})
    if not arguments.file:
        raise ParameterError("FILE", "", "the name of a file, or - for standard input")
    if arguments.edges == STDIN:
        raise ParameterError("--edges", STDIN, "a file; --output - prints the points")
    if arguments.file == STDIN and arguments.anchors == STDIN:
        raise ParameterError("--anchors", STDIN, "a file, for FILE is standard input")
    if arguments.output == STDIN and arguments.json:
        raise ParameterError("--output", STDIN, "a file with --json, whose summary is printed")
    if arguments.output and arguments.output != STDIN:
        check_position_ending(arguments.output)
    check_drawings(arguments.plot, arguments.html)
    written = {f"--{name}": getattr(arguments, name) for name in options[:4]}
    check_files([arguments.file, arguments.anchors], written)
