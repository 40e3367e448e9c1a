"""Coordinates of nodes, for figures: node, x, y per line of a text file."""

from __future__ import annotations

import os

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.source import Source, shorten
from gnnsync.io.nodes.anchor_file import read_anchor_file
from gnnsync.io.tables.cells import plain_cell
from gnnsync.typing import FloatArray


def read_coordinates(path: str | os.PathLike[str], graph: MeasurementGraph) -> FloatArray:
    """Places (n, 2) of the nodes of a graph, NaN where the file has none.

    Lines are as in a file of known angles: `node,x,y`, header and comments optional. Nodes that
    the graph does not have are left out, so that one file serves several sets of measurements.

    Raises:
        DataFileError: the file is malformed, states two places for a node, or knows none.
    """
    source = Source(path)
    number = {str(name): i for i, name in enumerate(graph.names)}
    places = np.full((graph.num_nodes, 2), np.nan)
    for line, name, place in read_anchor_file(source, 2, "coordinate"):
        node = number.get(plain_cell(name), number.get(name))
        if node is None:
            continue
        if np.isfinite(places[node]).any() and not np.array_equal(places[node], place):
            raise source.error(f"another place of {shorten(name)}: remove one of them", line)
        places[node] = place
    if np.isnan(places).all():
        raise source.error("has none of the nodes that were measured: give lines node,x,y")
    return places
