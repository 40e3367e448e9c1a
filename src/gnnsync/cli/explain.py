"""The measurement that `--explain EDGE` asks for."""

from __future__ import annotations

import numpy as np

from gnnsync.errors import ParameterError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.numbers import is_natural


def find_edge(graph: MeasurementGraph, text: str) -> int:
    """Number of the edge that `text` names: its number from 0, or two nodes `I,J` in any order.

    Two nodes that several edges join are refused: a number says which is meant.
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
            edges = np.flatnonzero(found).tolist() if len(ends) == 2 else []
            if len(edges) == 1:
                return int(edges[0])
            numbers = f"one of the numbers {', '.join(map(str, edges))} of the edges between them"
            allowed = numbers if edges else "two nodes that an edge joins"
            raise ParameterError("--explain", text, allowed)
    raise ParameterError("--explain", text, "two node names I,J or the number of an edge")
