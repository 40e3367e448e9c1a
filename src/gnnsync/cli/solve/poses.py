"""`gnnsync solve FILE.g2o`: whole poses, what is written of them, and their summary."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from gnnsync.cli.solve.explain import find_edge
from gnnsync.cli.solve.options import output_unit
from gnnsync.cli.terminal.progress import print_summary, print_table, reading, working
from gnnsync.io import read_poses, write_pose_edges, write_pose_solution
from gnnsync.io.figure_file import write_figure
from gnnsync.io.files import write_text
from gnnsync.io.graph_file import check_g2o_unit
from gnnsync.io.input.source import STDIN, Source
from gnnsync.io.poses.pose_solution_file import write_pose_table
from gnnsync.pose_graph import PoseGraph, PoseSolution, summarize_poses
from gnnsync.solve import solve_poses
from gnnsync.units import RADIANS, Unit, input_unit


def solve_pose_file(arguments: argparse.Namespace) -> None:
    """Read a pose graph, estimate its poses, write them and print a summary."""
    check_g2o_unit(Source(arguments.file), input_unit(arguments.unit))
    unit = output_unit(arguments)
    start = time.perf_counter()
    with reading(f"reading {arguments.file}") as progress:
        graph = read_poses(
            arguments.file, format=arguments.format, trust=arguments.trust, progress=progress
        )
    seconds_read = time.perf_counter() - start
    explained = None
    if arguments.explain is not None:
        explained = find_edge(graph.rotations, arguments.explain)
    title = f"solving {graph.num_poses} poses and {graph.num_edges} edges"
    with working(title, arguments.time_limit):
        solution = solve_poses(graph, arguments.method, seed=arguments.seed)
    summary = {"file": arguments.file, "method": arguments.method}
    summary |= summarize_poses(graph, solution) | {"unit": unit.name, "seconds_read": seconds_read}
    _write(arguments, graph, solution, summary)
    text = [_text(summary)]
    if arguments.html:
        with working("writing the page"):
            title = f"{Path(arguments.file).name} by {arguments.method}"
            options = {"title": title, "summary": text[0], "command": arguments.command}
            write_text(arguments.html, solution.html(graph, unit=unit, **options))
    if explained is not None:
        text.append(explanation(graph, solution, explained, unit))
    print_summary(arguments, summary, text)


def explanation(graph: PoseGraph, solution: PoseSolution, edge: int, unit: Unit = RADIANS) -> str:
    """The error of one measurement as a whole pose, and the cycles of its heading."""
    names, rotations = graph.rotations.names, graph.rotations
    x, y, angle = graph.error(solution.poses)[edge]
    verdict = "accepted" if solution.accepted[edge] else "rejected"
    stated = solution.edge_confidence[edge]
    confidence = "unknown" if np.isnan(stated) else f"{stated:.3g}"
    first = (
        f"edge {edge}, pose {names[rotations.src[edge]]} seen from {names[rotations.dst[edge]]}: "
        f"{verdict}, confidence {confidence}; off by ({x:.3g}, {y:.3g}) "
        f"in position and {unit.format(angle)} in heading"
    )
    return f"{first}\nheadings: {solution.headings.conflicts(edge, rotations).text(unit)}"


def _write(
    arguments: argparse.Namespace,
    graph: PoseGraph,
    solution: PoseSolution,
    summary: dict[str, Any],
) -> None:
    unit = output_unit(arguments)
    if arguments.plot:
        with working("drawing"):
            write_figure(solution.plot(graph), arguments.plot)
    if arguments.edges:
        write_pose_edges(graph, solution, arguments.edges, unit=unit)
    if arguments.output == STDIN:
        print_table(lambda handle: write_pose_table(graph, solution, handle, unit=unit))
    elif arguments.output:
        rejected = arguments.rejected or "keep"
        write_pose_solution(
            graph, solution, arguments.output, rejected=rejected, unit=unit, summary=summary
        )


def _text(summary: dict[str, Any]) -> str:
    ended = "converged" if summary["converged"] else "NOT converged"
    scale, broken = summary["information_scale"], summary["trusted_rejected"]
    trusted = f"{summary['trusted']} odometry edges (--trust none turns this off)"
    if broken:
        trusted += f"; {broken} of them contradicted and left out"
    # Without trusted edges, closures are not told from odometry.
    what = "closures" if summary["trusted"] else "all edges"
    scales = f"{what} × {scale['closures']:.3g}"
    if summary["trusted"]:
        scales = f"odometry × {scale['trusted']:.3g}, {scales}"
    lines = {
        "poses": summary["nodes"],
        "edges": summary["edges"],
        "trusted": trusted if summary["trusted"] else None,
        "components": summary["components"],
        "method": f"{summary['method']}, {ended} after {summary['iterations']} steps: "
        f"{summary['stop_reason']}",
        what: f"{summary['closures_accepted']} accepted, {summary['closures_rejected']} rejected",
        "cost": f"{summary['cost']:.6g} = ½ Σ rᵀ Ω r over the accepted edges",
        "information": f"{scales} would agree with the residuals",
        "time": f"{summary['seconds_read']:.2f} s to read, "
        f"{summary['seconds_solve']:.2f} s to solve",
    }
    return "\n".join(f"{name:<11} {value}" for name, value in lines.items() if value is not None)
