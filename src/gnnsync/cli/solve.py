"""`gnnsync solve FILE`: read measured offsets, estimate the angles, write them."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gnnsync.cli.errors import exit_code
from gnnsync.errors import DataFileError, ParameterError, check_choice, one_line
from gnnsync.graph import MeasurementGraph
from gnnsync.io import FORMATS, read, write_edges, write_solution
from gnnsync.io.figure_file import write_figure
from gnnsync.io.solution_file import check_ending, write_angles
from gnnsync.io.source import STDIN, Progress
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
    _check_outputs(arguments)
    with _messages_on_stderr():
        _solve(arguments)


def _solve(arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    with _stage(f"reading {arguments.file}") as progress:
        graph = read(
            arguments.file,
            format=arguments.format,
            degrees=arguments.degrees,
            progress=progress,
        )
    seconds_read = time.perf_counter() - start
    method = find_method(arguments.method)
    with _stage(f"solving {graph.num_edges} edges by {arguments.method}"):
        solution = method(graph, arguments.k, seed=arguments.seed)
    summary = {"file": arguments.file, "method": arguments.method} | summarize(graph, solution)
    summary["seconds_read"] = seconds_read
    _write(arguments, graph, solution, summary)
    if arguments.json:
        print(json.dumps(summary))
    else:
        print(_text(summary), file=sys.stderr if arguments.output == STDIN else sys.stdout)


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
    lines = {
        "nodes": summary["nodes"],
        "edges": summary["edges"],
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


@contextlib.contextmanager
def _stage(title: str) -> Iterator[Progress | None]:
    """Show a progress bar in a terminal; elsewhere print one line when the stage is done."""
    if not sys.stderr.isatty():
        start = time.perf_counter()
        yield None
        print(f"{title}: {time.perf_counter() - start:.2f} s", file=sys.stderr, flush=True)
        return
    # Only a terminal needs it, and it takes 0.1 s to import.
    from rich import console, progress

    columns = (
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
    )
    stderr = console.Console(stderr=True)
    with progress.Progress(*columns, console=stderr, transient=True) as bars:
        bar = bars.add_task(title, total=None)

        def advance(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total or None)

        yield advance


@contextlib.contextmanager
def _messages_on_stderr() -> Iterator[None]:
    """Send warnings and log messages of the package to standard error, one line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("warning: %(message)s"))
    logger = logging.getLogger("gnnsync")
    logger.addHandler(handler)
    propagate, logger.propagate = logger.propagate, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _show_warning
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {one_line(message)}", file=sys.stderr)


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Check that the output files can be written, before any work is done."""
    if arguments.output and arguments.output != STDIN:
        check_ending(arguments.output)
    if arguments.output == STDIN and arguments.json:
        raise ParameterError("--output", STDIN, "a file with --json, whose summary is printed")
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
        description="Estimate angles from measured offsets theta[src] - theta[dst].",
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
    add("--output", metavar="FILE", help="write angles to .csv, .json or .npz; - prints CSV")
    add("--edges", metavar="FILE", help="write residual, confidence and group of each edge as CSV")
    add("--plot", metavar="FILE", help="write a figure of the solution to .png, .pdf or .svg")
    add("--json", action="store_true", help="print the summary as one JSON object")
    return parser
