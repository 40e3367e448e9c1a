"""`gnnsync locate FILE`: read distances, estimate points, write and draw them."""

from __future__ import annotations

import argparse
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from gnnsync.cli.locate.options import check_outputs, locate_parser
from gnnsync.cli.locate.summary import summarize_positions, summary_text
from gnnsync.cli.terminal.errors import exit_code
from gnnsync.cli.terminal.progress import (
    messages_on_stderr,
    print_summary,
    print_table,
    reading,
    working,
)
from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import check_choice, check_integer
from gnnsync.io.distances.distance_file import read_distances
from gnnsync.io.distances.position_file import (
    write_distance_residuals,
    write_position_table,
    write_positions,
)
from gnnsync.io.distances.schema import DISTANCES
from gnnsync.io.figure_file import write_figure
from gnnsync.io.files import write_text
from gnnsync.io.input.encoding import check_encoding
from gnnsync.io.input.source import STDIN
from gnnsync.io.tables.titles import parse_columns
from gnnsync.localization.pipeline import Localization
from gnnsync.position_tables import distance_table, position_table
from gnnsync.positions import Positions
from gnnsync.solve import check_time_limit, find_method, method_names


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code: 0, 2 after bad input, 130 after Ctrl-C."""
    arguments = locate_parser().parse_args(argv)
    arguments.command = shlex.join(["gnnsync", "locate", *argv])
    return exit_code("gnnsync locate", lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> None:
    # Before a large file is read, which may take minutes.
    columns = parse_columns(arguments.columns, DISTANCES) if arguments.columns else None
    check_encoding(arguments.encoding)
    check_integer("--seed", arguments.seed, 0)
    check_choice("--method", arguments.method, method_names())
    method = find_method(arguments.method)
    check_time_limit(method, arguments.time_limit, "--time-limit")
    check_outputs(arguments)
    with messages_on_stderr():
        start = time.perf_counter()
        with reading(f"reading {arguments.file}") as progress:
            network = read_distances(
                arguments.file,
                anchors=arguments.anchors,
                format=arguments.format,
                columns=columns,
                encoding=arguments.encoding,
                keep_names=arguments.keep_names,
                progress=progress,
            )
        seconds_read = time.perf_counter() - start
        title = f"locating {network.num_points} points by {network.num_edges} distances"
        with working(title, arguments.time_limit):
            positions = replace(Localization(), rotations=method)(network, seed=arguments.seed)
        summary = {"file": arguments.file, "method": arguments.method}
        summary |= summarize_positions(network, positions) | {"seconds_read": seconds_read}
        _write(arguments, network, positions, summary)
        text = summary_text(summary)
        _draw(arguments, network, positions, text)
        print_summary(arguments, summary, [text])


def _write(
    arguments: argparse.Namespace,
    network: DistanceNetwork,
    positions: Positions,
    summary: dict[str, Any],
) -> None:
    names: dict[str, bool] = {"keep_names": arguments.keep_names}
    if arguments.edges:
        write_distance_residuals(network, positions, arguments.edges, **names)
    if arguments.output == STDIN:
        print_table(lambda handle: write_position_table(network, positions, handle, **names))
    elif arguments.output:
        write_positions(network, positions, arguments.output, summary=summary, **names)


def _draw(
    arguments: argparse.Namespace, network: DistanceNetwork, positions: Positions, summary: str
) -> None:
    """Write the map and the page."""
    title = Path(arguments.file).name
    if arguments.plot:
        with working("drawing"):
            # Matplotlib takes half a second to load, and only figures need it.
            from gnnsync.plots.positions import positions_figure

            write_figure(positions_figure(network, positions, title=title), arguments.plot)
    if arguments.html:
        with working("writing the page"):
            # As above.
            from gnnsync.plots.positions_page import positions_page

            page = positions_page(
                network,
                positions,
                summary,
                points=position_table(network, positions),
                distances=distance_table(network, positions),
                title=title,
                command=arguments.command,
            )
            write_text(arguments.html, page)
