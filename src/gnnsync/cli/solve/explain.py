"""The measurement that `--explain EDGE` asks for, and the nodes of `--between A,B`."""

from __future__ import annotations

import numpy as np

from gnnsync.errors import ParameterError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.numbers import is_natural


def find_edge(graph: MeasurementGraph, text: str) -> int:
    """Number of the edge that `text` names: its number from 0, or two nodes `I,J` in any order.

    Two nodes that several edges join are refused: a number says which is meant.
    """
    if is_natural(text):
        if int(text) < graph.num_edges:
            return int(text)
        raise ParameterError("--explain", text, f"an edge from 0 to {graph.num_edges - 1}")
    pair = _two_nodes(graph, text)
    if pair is None:
        raise ParameterError("--explain", text, "two node names I,J or the number of an edge")
    found = np.isin(graph.edge_index, pair).all(axis=0)
    edges = np.flatnonzero(found).tolist() if pair[0] != pair[1] else []
    if len(edges) == 1:
        return int(edges[0])
    numbers = f"one of the numbers {', '.join(map(str, edges))} of the edges between them"
    raise ParameterError("--explain", text, numbers if edges else "two nodes that an edge joins")


def find_pair(graph: MeasurementGraph, text: str) -> tuple[int, int]:
    """Numbers of the two different nodes `A,B` that `--between` names."""
    pair = _two_nodes(graph, text)
    if pair is None or pair[0] == pair[1]:
        raise ParameterError("--between", text, "the names of two different nodes, A,B")
    return pair


def _two_nodes(graph: MeasurementGraph, text: str) -> tuple[int, int] | None:
    """Numbers of the two nodes that `text` names with a comma between; None if it does not."""
    number = {str(name): i for i, name in enumerate(graph.names)}
    # A name may have a comma itself.
    places = [at for at, mark in enumerate(text) if mark == ","]
    pairs = [(text[:at].strip(), text[at + 1 :].strip()) for at in places]
    for first, second in pairs:
        if first in number and second in number:
            return number[first], number[second]
    return None
