"""Point clouds: an n × 2 array in a `.npy`, `.csv` or `.mat` file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from gnnsync.io.input.array_file import load_arrays
from gnnsync.io.input.numbers import finite_number, is_number
from gnnsync.io.input.source import Source
from gnnsync.io.matrices.npz import contents
from gnnsync.io.nodes.mat_file import is_cloud, read_mat
from gnnsync.io.tables.layout import split_lines
from gnnsync.typing import FloatArray

SUFFIXES = (".npy", ".csv", ".mat")
_LEAST_POINTS = 3


def read_points(path: str | os.PathLike[str], array: str | None = None) -> FloatArray:
    """Read points (n, 2), n ≥ 3.

    `.csv` has two numbers per line and may have a header; of a `.mat` file the array named
    `array` is taken, or the only one of shape n × 2.
    """
    source = Source(path)
    suffix = Path(source.path).suffix.lower()
    if suffix == ".npy":
        points = _read_npy(source)
    elif suffix == ".csv":
        points = _read_csv(source)
    elif suffix == ".mat":
        points = read_mat(source, array)
    else:
        raise source.error(f"ends in {suffix!r}: must be one of {', '.join(SUFFIXES)}")
    if len(points) < _LEAST_POINTS:
        raise source.error(f"holds {len(points)} points: must be at least {_LEAST_POINTS}")
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        raise source.error(f"point {int(np.argmax(bad))} is not finite")
    return points


def _read_npy(source: Source) -> FloatArray:
    arrays = load_arrays(source)
    if list(arrays) != ["array"] or not is_cloud(arrays["array"]):
        raise source.error(f"holds {contents(arrays)}: must be an array of numbers of shape (n, 2)")
    return arrays["array"].astype(np.float64)


def _read_csv(source: Source) -> FloatArray:
    points: list[tuple[float, float]] = []
    is_first = True
    for first_line, lines in source.blocks():
        for line, row in enumerate(split_lines(source, first_line, lines, ","), first_line):
            if not row:
                continue
            header = is_first and not any(map(is_number, row))
            is_first = False
            if header:
                continue
            if len(row) != 2:
                raise source.error(f"{len(row)} fields: must be x, y", line)
            x, y = (
                finite_number(source, line, name, text)
                for name, text in zip("xy", row, strict=True)
            )
            points.append((x, y))
    return np.array(points).reshape(-1, 2)
