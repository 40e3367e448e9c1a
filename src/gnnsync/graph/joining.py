"""Joining measurement graphs: names of nodes, and the fields of two graphs in one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gnnsync.graph.measurement import MeasurementGraph


def listed_names(values: Iterable[Hashable]) -> list[Hashable]:
    """Names of nodes as a list; elements of an array or tensor become plain numbers."""
    # Elements of a tensor hash by identity, so equal ones would be different nodes.
    return list(values.tolist() if hasattr(values, "tolist") else values)


def joined_fields(first: MeasurementGraph, more: MeasurementGraph) -> dict[str, Any]:
    """Fields of the graph with the edges of both, whose nodes are the same if their names are.

    Nodes of the first graph keep their numbers, new ones follow. Where only one graph has weights
    or trusted edges, the others have weight 1 and are not trusted. True groups are dropped, and
    true angles if there are new nodes.
    """
    names = tuple(dict.fromkeys([*first.names, *more.names]))
    number = {name: i for i, name in enumerate(names)}
    place = np.array([number[name] for name in more.names])
    fields: dict[str, Any] = {
        "edge_index": np.concatenate([first.edge_index, place[more.edge_index]], axis=1),
        "offset": np.concatenate([first.offset, more.offset]),
        "num_nodes": len(names),
        "angles": first.angles if len(names) == first.num_nodes else None,
        "node_names": None if names == tuple(range(len(names))) else names,
    }
    if first.weight is not None or more.weight is not None:
        fields["weight"] = np.concatenate([first.edge_weight, more.edge_weight])
    if first.trusted is not None or more.trusted is not None:
        fields["trusted"] = np.concatenate([first.edge_trusted, more.edge_trusted])
    return fields
