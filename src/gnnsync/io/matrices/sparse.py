"""Sparse matrices as `scipy.sparse.save_npz` stores them, checked before they are used.

SciPy's conversions trust the index arrays of a matrix: wrong ones make them write outside of their
memory. Here every index is checked, and the entries are unfolded by NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnnsync.io.input.numbers import check_declared_nodes
from gnnsync.io.input.source import Source, shorten
from gnnsync.typing import IntArray

_FORMATS = ("coo", "csr", "csc")


def read_entries(
    source: Source, arrays: Mapping[str, NDArray[Any]]
) -> tuple[IntArray, NDArray[Any], int]:
    """Rows and columns (2, m) of the stored entries, zeros included, their values (m,), and n.

    Args:
        source: the file, for errors.
        arrays: format, shape, data and row, col (coo), coords (coo), or indices, indptr (csr, csc).
    """
    kind = _format(source, arrays["format"])
    data = _array(source, arrays, "data", "biuf")
    n = _size(source, arrays["shape"], len(data))
    if kind == "coo" and "coords" in arrays:
        coords = _array(source, arrays, "coords", "iu", axes=2)
        if len(coords) != 2:
            raise source.error(f"coords has shape {coords.shape}: must be (2, {len(data)})")
        row, column = coords
    elif kind == "coo":
        row, column = (_array(source, arrays, name, "iu") for name in ("row", "col"))
    else:
        minor = _array(source, arrays, "indices", "iu")
        pointer = _pointer(source, _array(source, arrays, "indptr", "iu"), n, len(minor))
        major = np.repeat(np.arange(n), np.diff(pointer))
        minor, data = minor[: len(major)], data[: max(len(major), len(data) - len(minor))]
        row, column = (major, minor) if kind == "csr" else (minor, major)
    for name, index in (("row", row), ("column", column)):
        if len(index) != len(data):
            raise source.error(f"{len(index)} {name}s and {len(data)} values: must agree")
        if len(index) and (index.min() < 0 or index.max() >= n):
            wrong = index[(index < 0) | (index >= n)][0]
            raise source.error(f"{name} {wrong} of a sparse matrix: must be in 0..{n - 1}")
    return np.stack([row, column]).astype(np.int64), data, n


def _format(source: Source, value: NDArray[Any]) -> str:
    kind = value.item() if value.size == 1 else None
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if kind not in _FORMATS:
        raise source.error(f"a sparse matrix in format {shorten(kind)}: must be coo, csr or csc")
    return kind


def _size(source: Source, shape: NDArray[Any], entries: int) -> int:
    """Number n of rows and columns."""
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise source.error("shape of a sparse matrix: must be two whole numbers")
    rows, columns = (int(size) for size in shape)
    if rows != columns or rows < 1:
        raise source.error(f"adjacency has shape ({rows}, {columns}): must be square")
    check_declared_nodes(rows, entries, source.error)
    return rows


def _array(
    source: Source, arrays: Mapping[str, NDArray[Any]], name: str, kinds: str, axes: int = 1
) -> NDArray[Any]:
    """An array of the file that has this many axes and entries of these kinds."""
    if name not in arrays:
        raise source.error(f"a sparse matrix without {name}: write it by scipy.sparse.save_npz")
    array = arrays[name]
    if array.ndim != axes or array.dtype.kind not in kinds:
        what = "whole numbers" if kinds == "iu" else "real numbers"
        raise source.error(
            f"{name} is {array.dtype} of shape {array.shape}: must be a list of {what}"
        )
    return array


def _pointer(source: Source, pointer: NDArray[Any], n: int, entries: int) -> IntArray:
    """`indptr` (n + 1,): entry i of the matrix's rows is at pointer[i] to pointer[i + 1]."""
    if len(pointer) != n + 1:
        raise source.error(f"indptr has {len(pointer)} entries: must have {n + 1}, for {n} nodes")
    if pointer.max() > entries:
        raise source.error(f"indptr has {pointer.max()}: must be at most {entries}, the entries")
    places = pointer.astype(np.int64)
    steps = np.diff(places)
    if places[0] != 0 or (steps < 0).any():
        at = 0 if places[0] != 0 else int(np.argmax(steps < 0)) + 1
        raise source.error(f"indptr[{at}] is {places[at]}: must begin with 0 and never decrease")
    return places
