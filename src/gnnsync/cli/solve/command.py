"""`gnnsync solve FILE`: read measurements, estimate angles or poses, write them."""

from __future__ import annotations

import argparse
import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gnnsync.anchors import parse_fixed
from gnnsync.cli.solve.between import differences
from gnnsync.cli.solve.explain import find_edge, find_pair
from gnnsync.cli.solve.options import check_outputs, known_angles, output_unit, solve_parser
from gnnsync.cli.solve.poses import solve_pose_file
from gnnsync.cli.solve.summary import summary_text
from gnnsync.cli.terminal.errors import exit_code
from gnnsync.cli.terminal.progress import (
    messages_on_stderr,
    print_summary,
    print_table,
    reading,
    working,
)
from gnnsync.errors import ParameterError, check_choice
from gnnsync.graph import MeasurementGraph
from gnnsync.io import read, read_poses, write_edges, write_solution
from gnnsync.io.figure_file import write_figure
from gnnsync.io.files import write_text
from gnnsync.io.graph_file import file_format
from gnnsync.io.input.encoding import check_encoding
from gnnsync.io.input.source import STDIN, Source
from gnnsync.io.nodes.coordinates import read_coordinates
from gnnsync.io.solution_file import write_angles
from gnnsync.io.tables.titles import parse_columns
from gnnsync.methods.anchoring.held import Anchored
from gnnsync.methods.robust.second_set import find_second_set
from gnnsync.solution import ANGLE_FIGURES, Solution, summarize
from gnnsync.solve import check_time_limit, find_method, method_names
from gnnsync.typing import FloatArray
from gnnsync.units import in_unit


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code: 0, 2 after bad input, 130 after Ctrl-C."""
    arguments = solve_parser().parse_args(argv)
    arguments.command = shlex.join(["gnnsync", "solve", *argv])
    return exit_code("gnnsync solve", lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> None:
    # Before a large file is read, which may take minutes.
    parse_fixed(arguments.fix or [])
    if arguments.columns:
        parse_columns(arguments.columns)
    check_encoding(arguments.encoding)
    check_choice("--method", arguments.method, method_names())
    if not arguments.file:
        raise ParameterError("FILE", "", "the name of a file, or - for standard input")
    check_time_limit(find_method(arguments.method), arguments.time_limit, "--time-limit")
    kind = file_format(Source(arguments.file), arguments.format)
    if arguments.headings_only and kind != "g2o":
        raise ParameterError("--headings-only", True, f"used with a .g2o file, not with {kind}")
    if arguments.columns and kind == "g2o":
        raise ParameterError("--columns", arguments.columns, "used with a table, not with g2o")
    whole_poses = kind == "g2o" and not arguments.headings_only
    check_outputs(arguments, whole_poses)
    with messages_on_stderr():
        if whole_poses:
            solve_pose_file(arguments)
        else:
            _solve(arguments)


def _solve(arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    with reading(f"reading {arguments.file}") as progress:
        graph = read(
            arguments.file,
            format=arguments.format,
            unit=arguments.unit,
            trust=arguments.trust,
            columns=parse_columns(arguments.columns) if arguments.columns else None,
            encoding=arguments.encoding,
            keep_names=arguments.keep_names,
            progress=progress,
        )
    seconds_read = time.perf_counter() - start
    _check_graph(arguments, graph)
    explained = None if arguments.explain is None else find_edge(graph, arguments.explain)
    pairs = [find_pair(graph, text) for text in arguments.between or []]
    unit = output_unit(arguments)
    coordinates = _coordinates(arguments, graph)
    method = find_method(arguments.method)
    anchors = known_angles(arguments)
    if anchors is not None:
        anchors(graph, arguments.k)  # a wrong one is refused before the work
        method = Anchored(method, anchors, unit)
    title = f"solving {graph.num_edges} edges by {arguments.method}"
    with working(title, arguments.time_limit):
        solution = method(graph, arguments.k, seed=arguments.seed)
    summary = {"file": arguments.file, "method": arguments.method}
    figures = summarize(graph, solution) | {"between": differences(graph, solution, pairs)}
    summary |= in_unit(figures, unit, ANGLE_FIGURES)
    second = find_second_set(solution, graph, seed=arguments.seed)
    summary["second_set"] = None if second is None else asdict(second)
    summary["trusted"] = int(graph.edge_trusted.sum())
    summary["anchors"] = int(solution.diagnostics.get("anchors", 0))
    summary["anchors_contradicted"] = int(solution.diagnostics.get("anchors_contradicted", 0))
    summary["seconds_read"] = seconds_read
    _write(arguments, graph, solution, summary)
    text = [summary_text(summary)]
    _draw(arguments, graph, solution, text[0], coordinates)
    if explained is not None:
        text.append(solution.conflicts(explained, graph).text(unit))
    print_summary(arguments, summary, text)


def _check_graph(arguments: argparse.Namespace, graph: MeasurementGraph) -> None:
    """Refuse options that these measurements cannot meet."""
    if arguments.trust == "odometry" and not graph.edge_trusted.any():
        allowed = "left out: no edge joins nodes of consecutive whole numbers"
        raise ParameterError("--trust", arguments.trust, allowed)
    if arguments.k > max(graph.num_edges, 1):
        allowed = f"at most {graph.num_edges}, the number of measurements"
        raise ParameterError("--k", arguments.k, allowed)


def _write(
    arguments: argparse.Namespace,
    graph: MeasurementGraph,
    solution: Solution,
    summary: dict[str, Any],
) -> None:
    unit, keep_names = output_unit(arguments), arguments.keep_names
    if arguments.edges:
        write_edges(graph, solution, arguments.edges, unit=unit, keep_names=keep_names)
    if arguments.output == STDIN:
        options: dict[str, Any] = {"unit": unit, "keep_names": keep_names}
        print_table(lambda handle: write_angles(graph, solution, handle, **options))
    elif arguments.output:
        write_solution(
            graph, solution, arguments.output, unit=unit, summary=summary, keep_names=keep_names
        )


def _coordinates(arguments: argparse.Namespace, graph: MeasurementGraph) -> FloatArray | None:
    """Places (n, 2) for the figures: those of `--coordinates`, or the vertices of a .g2o file."""
    if not (arguments.plot or arguments.html):
        return None
    if arguments.coordinates:
        return read_coordinates(arguments.coordinates, graph)
    if arguments.headings_only and arguments.file != STDIN:
        poses = read_poses(arguments.file, format=arguments.format)
        if poses.initial is not None and np.isfinite(poses.initial[:, :2]).all():
            return poses.initial[:, :2]
    return None


def _draw(
    arguments: argparse.Namespace,
    graph: MeasurementGraph,
    solution: Solution,
    summary: str,
    coordinates: FloatArray | None,
) -> None:
    """Write the figure and the page."""
    unit = output_unit(arguments)
    title = f"{Path(arguments.file).name} by {arguments.method}"
    if solution.k > 1:
        title += f" (k = {solution.k})"
    if arguments.plot:
        with working("drawing"):
            figure = solution.plot(graph, title=title, coordinates=coordinates, unit=unit)
            write_figure(figure, arguments.plot)
    if arguments.html:
        with working("writing the page"):
            page = solution.html(
                graph,
                title=title,
                summary=summary,
                command=arguments.command,
                coordinates=coordinates,
                unit=unit,
            )
            write_text(arguments.html, page)
