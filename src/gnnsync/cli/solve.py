"""`gnnsync solve FILE`: offsets in, angles out."""

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

from gnnsync.errors import DataFileError, GnnsyncError, ParameterError, check_choice, one_line
from gnnsync.graph import MeasurementGraph
from gnnsync.io import FORMATS, read, write_edges, write_solution
from gnnsync.io.files import atomic_output
from gnnsync.io.solution_file import check_ending, write_angles
from gnnsync.io.source import STDIN, Progress
from gnnsync.solution import NODE_TOLERANCE, SURE, Solution, summarize
from gnnsync.solve import find_method, method_names

BAD_INPUT, INTERRUPTED = 2, 130
_PICTURES = (".png", ".pdf", ".svg")


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code: 0, 2 for bad input, 130 after Ctrl-C."""
    try:
        arguments = _parser().parse_args(argv)
        _check_outputs(arguments)
        with _messages():
            _run(arguments)
        sys.stdout.flush()
    except GnnsyncError as error:
        print(f"gnnsync solve: {one_line(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("gnnsync solve: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _run(arguments: argparse.Namespace) -> None:
    # Told before a large file is read.
    check_choice("--method", arguments.method, method_names())
    start = time.perf_counter()
    with _stage(f"reading {arguments.file}") as progress:
        graph = read(
            arguments.file,
            format=arguments.format,
            degrees=arguments.degrees,
            progress=progress,
        )
    read_in = time.perf_counter() - start
    method = find_method(arguments.method)
    with _stage(f"solving {graph.num_edges} edges by {arguments.method}"):
        solution = method(graph, arguments.k, seed=arguments.seed)
    summary = {"file": arguments.file, "method": arguments.method} | summarize(graph, solution)
    summary["seconds_read"] = read_in
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
        with atomic_output(arguments.plot, "wb") as handle:
            ending = Path(arguments.plot).suffix[1:].lower()
            solution.plot(graph).savefig(handle, format=ending, dpi=120)
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
        "outliers": f"about {summary['outlier_share']:.1%}; noise of the others "
        f"{summary['inlier_noise']:.3g} rad",
        "nodes sure": _sure_text(summary["nodes_sure"]),
        "time": f"{summary['seconds_read']:.2f} s to read, "
        f"{summary['seconds_solve']:.2f} s to solve",
    }
    return "\n".join(f"{name:<11} {value}" for name, value in lines.items() if value is not None)


def _sure_text(share: float | None) -> str | None:
    if share is None:
        return None
    return f"{share:.1%} are within {NODE_TOLERANCE:g} rad with confidence {SURE:g} or more"


@contextlib.contextmanager
def _stage(title: str) -> Iterator[Progress | None]:
    """A bar in a terminal while it goes on; elsewhere a log line when it is done."""
    if not sys.stderr.isatty():
        start = time.perf_counter()
        yield None
        print(f"{title}: {time.perf_counter() - start:.2f} s", file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(title, total=None)

        def advance(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total or None)

        yield advance


@contextlib.contextmanager
def _messages() -> Iterator[None]:
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
    """Refuse what cannot be written before any work is done."""
    if arguments.output and arguments.output != STDIN:
        check_ending(arguments.output)
    if arguments.output == STDIN and arguments.json:
        raise ParameterError("--output", STDIN, "a file with --json, whose summary is printed")
    if arguments.plot and Path(arguments.plot).suffix.lower() not in _PICTURES:
        raise ParameterError("--plot", arguments.plot, f"a file ending in {', '.join(_PICTURES)}")
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
    parser.add_argument("file", metavar="FILE", help="measurements, or - for standard input")
    parser.add_argument("--format", choices=FORMATS, help="if the ending of FILE does not tell")
    parser.add_argument(
        "--method",
        default="auto",
        metavar="NAME",
        help="%(default)s by default; one of " + ", ".join(method_names()),
    )
    parser.add_argument("--k", type=int, default=1, help="sets of angles mixed in the offsets (1)")
    parser.add_argument("--seed", type=int, default=0, help="of the method's chance (0)")
    parser.add_argument("--degrees", action="store_true", help="offsets in, and angles out, are so")
    parser.add_argument("--output", metavar="FILE", help="angles: .csv, .json, .npz, or - (CSV)")
    parser.add_argument("--edges", metavar="FILE", help="residual, confidence, group per edge, CSV")
    parser.add_argument("--plot", metavar="FILE", help="picture of the solution: .png, .pdf, .svg")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    return parser
