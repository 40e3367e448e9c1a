"""Measurement graphs from and to the objects of SciPy, PyTorch Geometric and NetworkX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scipy.sparse as sp

from gnnsync.errors import GraphError

if TYPE_CHECKING:
    import networkx
    from torch_geometric.data import Data

    from gnnsync.graph.measurement import MeasurementGraph

# Optional fields of a graph with one entry per edge.
EDGE_FIELDS = ("weight", "trusted", "group")


def stored_entries(matrix: Any) -> sp.coo_array:
    """The stored entries of a sparse matrix, after a check of its indices.

    SciPy's conversions follow wrong indices out of their memory.
    """
    if hasattr(matrix, "check_format"):  # by rows, columns or blocks
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise GraphError(f"adjacency is no valid sparse matrix: {error}") from None
    return matrix.tocoo()


def fields_of_pyg(data: Data, offset: str = "edge_attr") -> dict[str, Any]:
    """Fields of the graph of a PyTorch Geometric `Data`.

    Args:
        data: with `edge_index` (2, m), the offsets (m,) or (m, 1) in radians, and if there are any
            `edge_weight`, `edge_trusted`, `edge_group` and, as true angles, a real `y` (n,) or
            (n, k).
        offset: name of the attribute that holds the offsets.
    """

    def numpy(name: str) -> Any:
        value = getattr(data, name, None)
        return None if value is None else value.detach().cpu().numpy()

    edges, values, truth = numpy("edge_index"), numpy(offset), numpy("y")
    if edges is None:
        raise GraphError("data.edge_index is missing: it must hold the edges, shape (2, m)")
    if values is None:
        raise GraphError(
            f"data.{offset} is missing: it must hold the offsets, shape (m,); "
            "offset='NAME' names another attribute"
        )
    if values.ndim > 1 and values.size != len(values):
        raise GraphError(
            f"data.{offset} has shape {values.shape}: must be one offset per edge; "
            "offset='NAME' names another attribute"
        )
    if truth is not None and truth.dtype.kind in "iub":
        raise GraphError(
            f"data.y has type {truth.dtype}, as class labels have: it must hold the true angles as "
            "real numbers; remove it if it does not"
        )
    return {
        "edge_index": edges,
        "offset": values.reshape(-1),
        "num_nodes": int(data.num_nodes or 0),
        "weight": numpy("edge_weight"),
        "trusted": numpy("edge_trusted"),
        "angles": truth,
        "group": numpy("edge_group"),
        "node_names": getattr(data, "node_names", None),
    }


def as_pyg(graph: MeasurementGraph) -> Data:
    """A PyTorch Geometric `Data`: edge_attr = offsets, y = true angles, float64."""
    # Heavy libraries that only this conversion needs.
    import torch
    from torch_geometric.data import Data

    data = Data(
        edge_index=torch.tensor(graph.edge_index),
        edge_attr=torch.tensor(graph.offset),
        num_nodes=graph.num_nodes,
    )
    optional = {
        "edge_weight": graph.weight,
        "edge_trusted": graph.trusted,
        "y": graph.angles,
        "edge_group": graph.group,
    }
    for name, value in optional.items():
        if value is not None:
            data[name] = torch.tensor(value)
    if graph.node_names is not None:
        data["node_names"] = graph.node_names
    return data


def as_networkx(graph: MeasurementGraph) -> networkx.MultiDiGraph:
    """A directed multigraph on the node names; all fields of an edge are its attributes."""
    import networkx  # slow to import, and only this conversion needs it

    names = graph.names
    made = networkx.MultiDiGraph()
    for i, name in enumerate(names):
        truth = {} if graph.angles is None else {"angles": tuple(graph.angles[i].tolist())}
        made.add_node(name, **truth)
    columns = {name: getattr(graph, name) for name in ("offset", *EDGE_FIELDS)}
    present = {key: value.tolist() for key, value in columns.items() if value is not None}
    for e, (i, j) in enumerate(graph.edge_index.T.tolist()):
        made.add_edge(names[i], names[j], **{key: value[e] for key, value in present.items()})
    return made
