"""Point clouds: an n × 2 array in a `.npy`, `.csv` or `.mat` file."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np

from gnnsync.errors import DataFileError
from gnnsync.io.input.numbers import finite_number, is_number
from gnnsync.io.input.source import Source
from gnnsync.io.matrices.npz import contents
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
        points = _read_mat(source, array)
    else:
        raise source.error(f"ends in {suffix!r}: must be one of {', '.join(SUFFIXES)}")
    if len(points) < _LEAST_POINTS:
        raise source.error(f"holds {len(points)} points: must be at least {_LEAST_POINTS}")
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        raise source.error(f"point {int(np.argmax(bad))} is not finite")
    return points


def _read_npy(source: Source) -> FloatArray:
    with source.open() as handle:
        try:
            loaded = np.load(handle, allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise source.error(f"is not a valid .npy file ({error})") from None
    if not isinstance(loaded, np.ndarray) or not _is_cloud(loaded):
        held = contents({"array": loaded}) if isinstance(loaded, np.ndarray) else "several arrays"
        raise source.error(f"holds {held}: must be an array of numbers of shape (n, 2)")
    return loaded.astype(np.float64)


def _read_csv(source: Source) -> FloatArray:
    points: list[tuple[float, float]] = []
    is_first = True
    for first_line, lines in source.blocks():
        for line, row in enumerate(csv.reader(lines, skipinitialspace=True), first_line):
            if not "".join(row).strip():
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


def _read_mat(source: Source, array: str | None) -> FloatArray:
    from scipy.io import loadmat  # slow to import, and rarely needed

    with source.open() as handle:
        try:
            held: dict[str, Any] = loadmat(handle)
        except NotImplementedError:
            raise source.error("is a MATLAB 7.3 file: save it with -v7") from None
        except Exception as error:  # a damaged file can raise any exception in loadmat
            raise source.error(f"is not a valid .mat file ({error})") from None
    arrays = {name: value for name, value in held.items() if not name.startswith("__")}
    if array is not None:
        if array not in arrays:
            raise source.error(f"has no array {array!r}; it holds {contents(arrays)}")
        if not _is_cloud(arrays[array]):
            raise source.error(f"{array!r} is no n × 2 array; the file holds {contents(arrays)}")
        return arrays[array].astype(np.float64)
    clouds = [value for value in arrays.values() if _is_cloud(value)]
    if len(clouds) != 1:
        raise DataFileError(
            f"{source.name}: {len(clouds)} arrays of shape n × 2, must be one, or name it; "
            f"the file holds {contents(arrays)}"
        )
    return clouds[0].astype(np.float64)


def _is_cloud(value: Any) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind in "iuf"
        and value.ndim == 2
        and value.shape[1] == 2
    )
