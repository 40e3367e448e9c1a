"""`gnnsync solve FILE`: read measurements, estimate angles or poses, write them."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from gnnsync.cli.errors import exit_code
from gnnsync.cli.explain import find_edge
from gnnsync.cli.poses import solve_pose_file
from gnnsync.cli.progress import messages_on_stderr, print_summary, stage
from gnnsync.errors import DataFileError, ParameterError, check_choice
from gnnsync.graph import MeasurementGraph
from gnnsync.io import FORMATS, read, write_edges, write_solution
from gnnsync.io.figure_file import write_figure
from gnnsync.io.graph_file import TRUST, file_format
from gnnsync.io.pose_solution_file import REJECTED, check_pose_ending
from gnnsync.io.solution_file import check_ending, write_angles
from gnnsync.io.source import STDIN, Source
from gnnsync.solution import NODE_TOLERANCE, SURE, Solution, summarize
from gnnsync.solve import find_method, method_names

_FIGURE_ENDINGS = (".png", ".pdf", ".svg")


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code: 0, 2 after bad input, 130 after Ctrl-C."""
    arguments = _parser().parse_args(argv)
    return exit_code("gnnsync solve", lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> None:
    # Before a large file is read, which may take minutes.
    check_choice("--method", arguments.method, method_names())
    kind = file_format(Source(arguments.file), arguments.format)
    if arguments.headings_only and kind != "g2o":
        raise ParameterError("--headings-only", True, f"used with a .g2o file, not with {kind}")
    whole_poses = kind == "g2o" and not arguments.headings_only
    _check_outputs(arguments, whole_poses)
    with messages_on_stderr():
        if whole_poses:
            solve_pose_file(arguments)
        else:
            _solve(arguments)


def _solve(arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    with stage(f"reading {arguments.file}") as progress:
        graph = read(
            arguments.file,
            format=arguments.format,
            degrees=arguments.degrees,
            trust=arguments.trust,
            progress=progress,
        )
    seconds_read = time.perf_counter() - start
    explained = None if arguments.explain is None else find_edge(graph, arguments.explain)
    method = find_method(arguments.method)
    with stage(f"solving {graph.num_edges} edges by {arguments.method}"):
        solution = method(graph, arguments.k, seed=arguments.seed)
    summary = {"file": arguments.file, "method": arguments.method} | summarize(graph, solution)
    summary["trusted"] = int(graph.edge_trusted.sum())
    summary["seconds_read"] = seconds_read
    _write(arguments, graph, solution, summary)
    text = [_text(summary)]
    if explained is not None:
        text.append(str(solution.conflicts(explained, graph)))
    print_summary(arguments, summary, text)


def _write(
    arguments: argparse.Namespace,
    graph: MeasurementGraph,
    solution: Solution,
    summary: dict[str, Any],
) -> None:
    if arguments.plot:
        write_figure(solution.plot(graph), arguments.plot)
    if arguments.edges:
        write_edges(graph, solution, arguments.edges, degrees=arguments.degrees)
    if arguments.output == STDIN:
        write_angles(graph, solution, sys.stdout, degrees=arguments.degrees)
    elif arguments.output:
        write_solution(
            graph, solution, arguments.output, degrees=arguments.degrees, summary=summary
        )


def _text(summary: dict[str, Any]) -> str:
    quantiles = ", ".join(
        f"{float(level):.0%} {value:.3g}" for level, value in summary["residual_quantiles"].items()
    )
    ended = "converged" if summary["converged"] else "NOT converged"
    trusted = f"{summary['trusted']} edges (--trust none turns this off)"
    lines = {
        "nodes": summary["nodes"],
        "edges": summary["edges"],
        "trusted": trusted if summary["trusted"] else None,
        "components": summary["components"],
        "method": f"{summary['method']} (k = {summary['k']}), {ended}: {summary['stop_reason']}",
        "|residual|": f"{quantiles} rad",
        "outliers": f"about {summary['outlier_share']:.1%}; noise of the inliers "
        f"{summary['inlier_noise']:.3g} rad",
        "confidence": _confidence_text(summary["nodes_sure"]),
        "time": f"{summary['seconds_read']:.2f} s to read, "
        f"{summary['seconds_solve']:.2f} s to solve",
    }
    return "\n".join(f"{name:<11} {value}" for name, value in lines.items() if value is not None)


def _confidence_text(fraction: float | None) -> str | None:
    if fraction is None:
        return None
    return f"{fraction:.1%} of the nodes are within {NODE_TOLERANCE:g} rad with {SURE:.0%} or more"


def _check_outputs(arguments: argparse.Namespace, whole_poses: bool) -> None:
    """Check that options agree and output files can be written, before any work is done."""
    if arguments.output and arguments.output != STDIN:
        ending = (check_pose_ending if whole_poses else check_ending)(arguments.output)
    else:
        ending = ""
    if arguments.rejected is not None and ending != ".g2o":
        raise ParameterError("--rejected", arguments.rejected, "used with --output FILE.g2o")
    if whole_poses and arguments.k != 1:
        raise ParameterError("--k", arguments.k, "1 for whole poses; or add --headings-only")
    if arguments.output == STDIN and arguments.json:
        raise ParameterError("--output", STDIN, "a file with --json, whose summary is printed")
    if arguments.explain is not None and arguments.json:
        raise ParameterError("--explain", arguments.explain, "used without --json")
    if arguments.plot and Path(arguments.plot).suffix.lower() not in _FIGURE_ENDINGS:
        raise ParameterError(
            "--plot", arguments.plot, f"a file ending in {', '.join(_FIGURE_ENDINGS)}"
        )
    targets = [arguments.output, arguments.edges, arguments.plot]
    files = [os.path.realpath(name) for name in targets if name and name != STDIN]
    if len(set(files)) < len(files):
        raise DataFileError("--output, --edges and --plot must be different files")
    for name in files:
        if not os.path.isdir(os.path.dirname(name)):
            raise DataFileError(f"{name}: its folder does not exist")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gnnsync solve",
        description="Estimate angles from measured offsets theta[src] - theta[dst], or the poses "
        "of a 2D pose graph.",
        epilog="FILE is .csv, .tsv or .txt (src,dst,offset[,weight]; header optional), .g2o (2D), "
        ".npz or .mtx. Exit code 2 means bad input.",
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="measurements, or - for standard input")
    add("--format", choices=FORMATS, help="format of FILE (default: by its ending)")
    names = ", ".join(method_names())
    add("--method", default="auto", metavar="NAME", help=f"default %(default)s; one of {names}")
    add(
        "--k",
        type=int,
        default=1,
        help="number of groups of angles mixed in the offsets (default 1)",
    )
    add("--seed", type=int, default=0, help="random seed (default 0)")
    add("--degrees", action="store_true", help="offsets and angles are in degrees, not radians")
    add(
        "--trust",
        choices=TRUST,
        help="edges known to be inliers: odometry (between consecutive node numbers; default for "
        ".g2o) or none (default elsewhere: the column trusted of the file)",
    )
    _add_outputs(parser)
    return parser


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--output",
        metavar="FILE",
        help="write angles or poses to .csv, .json, .npz, or poses to .g2o; - prints CSV",
    )
    add("--edges", metavar="FILE", help="write residual and confidence of each edge as CSV")
    add("--plot", metavar="FILE", help="write a figure of the solution to .png, .pdf or .svg")
    add("--json", action="store_true", help="print the summary as one JSON object")
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
