"""The options of `gnnsync locate`, and the checks of those that write files."""

from __future__ import annotations

import argparse

from gnnsync.cli.terminal.options import (
    add_json,
    add_keep_names,
    add_seed_and_limit,
    add_table_options,
    check_standard_output,
)
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
    add_table_options(parser, FORMATS, "FILE", "i=from,j=to,distance=metres", "the text files")
    names = ", ".join(method_names())
    add(
        "--method",
        default="auto",
        metavar="NAME",
        help=f"for the rotations of the patches (default %(default)s); one of {names}",
    )
    add_seed_and_limit(parser, "", "points")
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
    add_keep_names(parser, "names")
    add("--plot", metavar="FILE", help="write a map with 95 %% ellipses to .png, .pdf or .svg")
    add(
        "--html",
        metavar="FILE",
        help="write one page with summary, map and sortable tables, which needs no network",
    )
    add_json(parser)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Check that options agree and output files can be written, before any work is done."""
    options = ("output", "edges", "plot", "html", "anchors", "columns")
    check_given({f"--{option}": getattr(arguments, option) for option in options})
    if not arguments.file:
        raise ParameterError("FILE", "", "the name of a file, or - for standard input")
    if arguments.file == STDIN and arguments.anchors == STDIN:
        raise ParameterError("--anchors", STDIN, "a file, for FILE is standard input")
    check_standard_output(arguments, "points")
    if arguments.output and arguments.output != STDIN:
        check_position_ending(arguments.output)
    check_drawings(arguments.plot, arguments.html)
    written = {f"--{name}": getattr(arguments, name) for name in options[:4]}
    check_files([arguments.file, arguments.anchors], written)
