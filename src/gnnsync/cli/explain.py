"""The measurement that `--explain EDGE` asks for."""

from __future__ import annotations

import numpy as np

from gnnsync.errors import ParameterError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.numbers import is_natural


def find_edge(graph: MeasurementGraph, text: str) -> int:
    """Number of the edge that `text` names: its number from 0, or two nodes `I,J` in any order.

    Of several edges between two nodes the first is taken.
    """
    if is_natural(text):
        if int(text) < graph.num_edges:
            return int(text)
        raise ParameterError("--explain", text, f"an edge from 0 to {graph.num_edges - 1}")
    number = {str(name): i for i, name in enumerate(graph.names)}
    # A name may have a comma itself.
    places = [at for at, mark in enumerate(text) if mark == ","]
    pairs = [(text[:at].strip(), text[at + 1 :].strip()) for at in places]
    for first, second in pairs:
        if first in number and second in number:
            ends = {number[first], number[second]}
            found = np.isin(graph.edge_index, list(ends)).all(axis=0)
            if len(ends) == 2 and found.any():
                return int(np.argmax(found))
            raise ParameterError("--explain", text, "two nodes that an edge joins")
    raise ParameterError("--explain", text, "two node names I,J or the number of an edge")
