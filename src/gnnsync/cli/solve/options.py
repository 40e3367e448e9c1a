"""The options of `gnnsync solve`, and the checks of those that write files."""

from __future__ import annotations

import argparse

from gnnsync.anchors import Anchors, FileAnchors, NamedAnchors, SeveralAnchors, parse_fixed
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
from gnnsync.io import FORMATS
from gnnsync.io.graph_file import TRUST
from gnnsync.io.input.source import STDIN
from gnnsync.io.poses.pose_solution_file import REJECTED, check_pose_ending
from gnnsync.io.solution_file import check_ending
from gnnsync.solve import method_names
from gnnsync.units import RADIANS, UNITS, Unit


def solve_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = OneLineParser(
        "gnnsync solve",
        description="Estimate angles from measured offsets theta[src] - theta[dst], or the poses "
        "of a 2D pose graph.",
        epilog="FILE is .csv, .tsv or .txt (src,dst,offset[,weight]; header and # comments "
        "optional), .parquet, .g2o (2D), .npz or .mtx; text may be compressed (.csv.gz). Exit code "
        "2 means bad input.",
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="measurements, or - for standard input")
    example = "src=node_a,dst=node_b,offset=delta"
    add_table_options(parser, FORMATS, "a table", example, "a text file")
    names = ", ".join(method_names())
    add("--method", default="auto", metavar="NAME", help=f"default %(default)s; one of {names}")
    add(
        "--k",
        type=int,
        default=1,
        help="number of groups of angles mixed in the offsets (default 1)",
    )
    add_seed_and_limit(parser, "solving ", "angles")
    add(
        "--trust",
        choices=TRUST,
        help="edges known to be inliers: odometry (between consecutive node numbers; default for "
        ".g2o) or none (default elsewhere: the column trusted of the file)",
    )
    add(
        "--fix",
        metavar="NODE=ANGLE",
        action="append",
        help="a known angle, held exactly, in the unit of FILE (k > 1: NODE=ANGLE,ANGLE,...); may "
        "be given several times",
    )
    add("--anchors", metavar="FILE", help="known angles, held exactly: lines node,angle[,angle_2]")
    _add_units(parser)
    _add_outputs(parser)
    return parser


def _add_units(parser: argparse.ArgumentParser) -> None:
    given = parser.add_mutually_exclusive_group()
    written = parser.add_mutually_exclusive_group()
    for name in UNITS:
        given.add_argument(
            f"--{name}",
            dest="unit",
            action="store_const",
            const=name,
            help=f"offsets of FILE are in {name}"
            + (" (default; stated, nothing is said about offsets beyond 2π)" * (name == "radians")),
        )
        written.add_argument(
            f"--output-{name}",
            dest="output_unit",
            action="store_const",
            const=name,
            help=f"write and print angles in {name} (default: the unit of FILE)",
        )


def output_unit(arguments: argparse.Namespace) -> Unit:
    """The unit of what is written and printed: by default that of the file."""
    return UNITS[arguments.output_unit or arguments.unit or RADIANS.name]


def known_angles(arguments: argparse.Namespace) -> Anchors | None:
    """What `--fix` and `--anchors` state; None if neither is given."""
    unit = UNITS[arguments.unit or RADIANS.name]
    parts: list[Anchors] = []
    if arguments.anchors:
        parts.append(FileAnchors(arguments.anchors, unit))
    if arguments.fix:
        parts.append(NamedAnchors(parse_fixed(arguments.fix), unit, "--fix"))
    return SeveralAnchors(tuple(parts)) if parts else None


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--output",
        "-o",
        metavar="FILE",
        help="write angles or poses to .csv, .parquet, .json, .npz, or poses to .g2o; - prints CSV",
    )
    add(
        "--edges",
        metavar="FILE",
        help="write residual and confidence of each edge as CSV, or as .parquet",
    )
    add_keep_names(parser, "node names")
    add("--plot", metavar="FILE", help="write a figure of the solution to .png, .pdf or .svg")
    add(
        "--html",
        metavar="FILE",
        help="write one page with summary, figures and sortable tables, which needs no network",
    )
    add(
        "--coordinates",
        metavar="FILE",
        help="places of the nodes in the figures: lines node,x,y (default: computed)",
    )
    add_json(parser)
    add(
        "--between",
        metavar="A,B",
        action="append",
        help="add the difference of the angles of two nodes, with its standard deviation and the "
        "probability that both are right; may be repeated",
    )
    add(
        "--explain",
        metavar="EDGE",
        help="print the cycles for and against an edge, given by two nodes I,J or by its number",
    )
    add("--headings-only", action="store_true", help="of a .g2o file, solve the headings only")
    add(
        "--rejected",
        choices=REJECTED,
        help="edges of --output FILE.g2o that the poses contradict: keep them (default), drop "
        "them, or mark them as comments",
    )


def check_outputs(arguments: argparse.Namespace, whole_poses: bool) -> None:
    """Check that options agree and output files can be written, before any work is done."""
    options = ("output", "edges", "plot", "html", "anchors", "coordinates", "columns")
    check_given({f"--{option}": getattr(arguments, option) for option in options})
    check_standard_output(arguments, "angles")
    if arguments.output and arguments.output != STDIN:
        ending = (check_pose_ending if whole_poses else check_ending)(arguments.output)
    else:
        ending = ""
    if arguments.rejected is not None and ending != ".g2o":
        raise ParameterError("--rejected", arguments.rejected, "used with --output FILE.g2o")
    if whole_poses and (arguments.fix or arguments.anchors):
        option, value = (
            ("--fix", arguments.fix) if arguments.fix else ("--anchors", arguments.anchors)
        )
        raise ParameterError(option, value, "used with --headings-only; a FIX line holds a pose")
    if whole_poses and arguments.k != 1:
        raise ParameterError("--k", arguments.k, "1 for whole poses; or add --headings-only")
    if whole_poses and arguments.between:
        raise ParameterError("--between", arguments.between[0], "used with --headings-only")
    if arguments.explain is not None and arguments.json:
        raise ParameterError("--explain", arguments.explain, "used without --json")
    check_drawings(arguments.plot, arguments.html)
    _check_coordinates(arguments, whole_poses)
    outputs = ("output", "edges", "plot", "html")
    check_files([arguments.file], {f"--{name}": getattr(arguments, name) for name in outputs})


def _check_coordinates(arguments: argparse.Namespace, whole_poses: bool) -> None:
    """Check the option of the places in figures."""
    if arguments.coordinates and not (arguments.plot or arguments.html):
        raise ParameterError("--coordinates", arguments.coordinates, "used with --plot or --html")
    if arguments.coordinates and whole_poses:
        allowed = "left out: poses have places of their own; or add --headings-only"
        raise ParameterError("--coordinates", arguments.coordinates, allowed)
