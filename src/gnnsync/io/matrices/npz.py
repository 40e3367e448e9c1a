"""NPZ: a measurement graph with all its fields, a SciPy sparse matrix, or a dense one."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gnnsync.errors import DataFileError, GnnsyncError, check_array, first_line
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.array_file import load_arrays
from gnnsync.io.input.numbers import check_declared_nodes
from gnnsync.io.input.offsets import offset_radians
from gnnsync.io.input.source import Source
from gnnsync.io.matrices.sparse import read_entries
from gnnsync.units import RADIANS, Unit

# Arrays that an error message lists, and characters of each name.
_MOST_LISTED, _LONGEST_NAME = 12, 30
_OPTIONAL = ("weight", "trusted", "angles", "group")


def read_npz(source: Source, unit: Unit | None = None) -> MeasurementGraph:
    """Read arrays `edge_index`, `offset`, ... as `write_npz` stores them, or an adjacency matrix.

    A sparse matrix is one that `scipy.sparse.save_npz` has stored, a dense one the only array of
    the file; see `MeasurementGraph.from_adjacency`. Pickled objects are never loaded.
    """
    arrays = load_arrays(source)
    try:
        if "edge_index" in arrays and "offset" in arrays:
            offset = offset_radians(source.name, arrays["offset"], unit)
            graph = _from_arrays(source, arrays | {"offset": offset})
        elif "format" in arrays and "shape" in arrays:
            index, data, n = read_entries(source, arrays)
            graph = MeasurementGraph(index, offset_radians(source.name, data, unit), n)
        elif len(arrays) == 1 and next(iter(arrays.values())).ndim == 2:
            matrix = sp.coo_array(check_array("array", next(iter(arrays.values()))))
            matrix.data = offset_radians(source.name, matrix.data, unit)
            graph = MeasurementGraph.from_adjacency(matrix)
        else:
            raise source.error(
                f"holds {contents(arrays)}: must hold edge_index and offset, a scipy.sparse "
                "matrix, or one square array"
            )
    except DataFileError:
        raise
    # The constructors check the arrays; their errors get the file's name.
    except (GnnsyncError, TypeError, ValueError, OverflowError) as error:
        raise source.error(first_line(error)) from None
    if not graph.num_edges:
        raise source.error("holds no measurements")
    return graph


def write_npz(graph: MeasurementGraph, handle: BinaryIO, unit: Unit = RADIANS) -> None:
    """Write every field of the graph; node names must be all text or all whole numbers."""
    arrays: dict[str, Any] = {
        "edge_index": graph.edge_index,
        "offset": unit.from_radians(graph.offset),
        "num_nodes": np.int64(graph.num_nodes),
    }
    arrays |= {name: getattr(graph, name) for name in _OPTIONAL if getattr(graph, name) is not None}
    if graph.node_names is not None:
        names = np.array(graph.node_names)
        if names.dtype.kind not in "Ui" or tuple(names.tolist()) != graph.node_names:
            raise DataFileError("node names must be all text or all whole numbers to be written")
        arrays["node_names"] = names
    np.savez_compressed(handle, **arrays)


def contents(arrays: dict[str, Any]) -> str:
    """Names and shapes of arrays, for error messages."""
    named = [f"{name[:_LONGEST_NAME]} {np.shape(value)}" for name, value in arrays.items()]
    more = f" and {len(named) - _MOST_LISTED} more" if len(named) > _MOST_LISTED else ""
    return ", ".join(named[:_MOST_LISTED]) + more or "nothing"


def _from_arrays(source: Source, arrays: dict[str, Any]) -> MeasurementGraph:
    index = arrays["edge_index"]
    if index.dtype.kind not in "iuf":
        raise source.error("edge_index must hold whole numbers")
    names = arrays.get("node_names")
    if "num_nodes" in arrays:
        n = _whole(source, "num_nodes", arrays["num_nodes"])
    elif names is not None:
        n = len(names)
    elif index.size:
        n = int(index.max()) + 1
    else:
        raise source.error("holds no measurements")
    check_declared_nodes(n, index.size // 2, source.error)
    return MeasurementGraph(
        index,
        arrays["offset"],
        n,
        node_names=None if names is None else tuple(names.tolist()),
        **{name: arrays[name] for name in _OPTIONAL if name in arrays},
    )


def _whole(source: Source, name: str, value: NDArray[Any]) -> int:
    if value.size != 1 or value.dtype.kind not in "iu":
        raise source.error(f"{name} is {value.dtype} of shape {value.shape}: must be one number")
    return int(value.item())
