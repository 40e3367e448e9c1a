"""NPZ: a measurement graph with all its fields, a SciPy sparse matrix, or a dense one."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from gnnsync.errors import DataFileError, GnnsyncError, first_line
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.offsets import offset_radians
from gnnsync.io.input.source import STDIN, Source
from gnnsync.units import RADIANS, Unit

_OPTIONAL = ("weight", "trusted", "angles", "group")
_BROKEN = (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, MemoryError)


def read_npz(source: Source, unit: Unit | None = None) -> MeasurementGraph:
    """Read arrays `edge_index`, `offset`, ... as `write_npz` stores them, or an adjacency matrix.

    A sparse matrix is one that `scipy.sparse.save_npz` has stored, a dense one the only array of
    the file; see `MeasurementGraph.from_adjacency`. Pickled objects are never loaded.
    """
    arrays = _load(source)
    try:
        if "edge_index" in arrays and "offset" in arrays:
            offset = offset_radians(source.name, arrays["offset"], unit)
            graph = _from_arrays(source, arrays | {"offset": offset})
        elif "format" in arrays and "shape" in arrays:
            graph = _from_matrix(source, _sparse(source, arrays), unit)
        elif len(arrays) == 1 and next(iter(arrays.values())).ndim == 2:
            graph = _from_matrix(source, sp.coo_array(next(iter(arrays.values()))), unit)
        else:
            raise source.error(
                f"holds {contents(arrays)}: must hold edge_index and offset, a scipy.sparse "
                "matrix, or one square array"
            )
    except DataFileError:
        raise
    # The constructors check the arrays; their errors get the file's name.
    except (GnnsyncError, TypeError, ValueError, KeyError, IndexError) as error:
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
    listed = ", ".join(f"{name} {np.shape(value)}" for name, value in arrays.items())
    return listed or "nothing"


def _load(source: Source) -> dict[str, Any]:
    with source.open() as handle:
        # np.load seeks, which standard input cannot.
        file = io.BytesIO(handle.read()) if source.path == STDIN else handle
        if not file.read(1):
            raise source.error("is empty")
        file.seek(0)
        try:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"array": loaded}
            return {name: loaded[name] for name in loaded.files}
        except _BROKEN as error:
            raise source.error(
                f"is not a valid .npz file ({first_line(error)}): write it again"
            ) from None


def _from_arrays(source: Source, arrays: dict[str, Any]) -> MeasurementGraph:
    index = arrays["edge_index"]
    if index.dtype.kind not in "iuf":
        raise source.error("edge_index must hold whole numbers")
    names = arrays.get("node_names")
    if "num_nodes" in arrays:
        n = int(arrays["num_nodes"])
    elif names is not None:
        n = len(names)
    elif index.size:
        n = int(index.max()) + 1
    else:
        raise source.error("holds no measurements")
    return MeasurementGraph(
        index,
        arrays["offset"],
        n,
        node_names=None if names is None else tuple(names.tolist()),
        **{name: arrays[name] for name in _OPTIONAL if name in arrays},
    )


def _from_matrix(source: Source, matrix: sp.coo_array, unit: Unit | None) -> MeasurementGraph:
    matrix.data = offset_radians(source.name, matrix.data, unit)
    return MeasurementGraph.from_adjacency(matrix)


def _sparse(source: Source, arrays: dict[str, Any]) -> sp.coo_array:
    """The matrix that `scipy.sparse.save_npz` stored, with its stored zeros."""
    kind = arrays["format"].item()
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    shape = tuple(int(size) for size in arrays["shape"])
    if kind == "coo" and "coords" in arrays:
        return sp.coo_array((arrays["data"], tuple(arrays["coords"])), shape)
    if kind == "coo":
        return sp.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape)
    if kind in ("csr", "csc"):
        build = sp.csr_array if kind == "csr" else sp.csc_array
        return build((arrays["data"], arrays["indices"], arrays["indptr"]), shape).tocoo()
    raise source.error(f"a sparse matrix in format {kind!r}: must be coo, csr or csc")
