"""Arrays in NumPy's format: the header is checked against the bytes before any are read.

`numpy.load` evaluates the header as a Python literal and allocates what it claims. Here a header
has to be that of a plain array, and the file has to hold exactly the bytes of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x93NUMPY"
# Bytes of a header; that of a plain array has about 100.
_LONGEST_HEADER = 1 << 16
# Kinds of entries: booleans, whole and real numbers, bytes and text. Others are not measurements,
# and objects would have to be unpickled, which runs code.
_KIND = re.compile(r"[<>|=]?[biufSU]\d{1,9}")
_DESCR = re.compile(r"'descr': *'([^']{1,20})'")
_ORDER = re.compile(r"'fortran_order': *(True|False)")
_SHAPE = re.compile(r"'shape': *\(([\d, L]*)\)")
_MOST_DIGITS = 18  # of one size; any such number fits in 64 bits
_MOST_AXES = 8
_LAST_CHARACTER = 0x10FFFF

Fail = Callable[[str], Exception]
"""Makes the exception for a problem."""


def read_npy(handle: BinaryIO, size: int, error: Fail) -> NDArray[Any]:
    """The array of a `.npy` stream.

    Args:
        handle: at the start of the stream.
        size: bytes of the stream.
        error: makes the exception for a problem.
    """
    dtype, order, shape, start = _read_header(handle, error)
    expected = math.prod(shape) * dtype.itemsize
    if expected != size - start:
        raise error(
            f"claims {expected} bytes of numbers and holds {size - start}: write the file again"
        )
    data = handle.read(expected)
    if len(data) != expected:
        raise error("ends within its numbers: copy or write the file again")
    if dtype.kind == "U":
        _check_text(data, dtype, error)
    return np.frombuffer(data, dtype).reshape(shape, order=order).copy()


def _read_header(handle: BinaryIO, error: Fail) -> tuple[np.dtype[Any], Any, tuple[int, ...], int]:
    """Type of the entries, order C or F, shape, and the bytes that the header takes."""
    start = handle.read(len(MAGIC) + 2)
    if len(start) != len(MAGIC) + 2 or not start.startswith(MAGIC) or start[6] not in (1, 2, 3):
        raise error("is no array in NumPy's format: write the file again")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(handle.read(width), "little")
    if length > _LONGEST_HEADER:
        raise error(f"has a header of {length} bytes: write the file again")
    text = handle.read(length).decode("latin-1")
    descr, order, shape = (found.search(text) for found in (_DESCR, _ORDER, _SHAPE))
    if len(text) != length or order is None or shape is None or "'descr'" not in text:
        raise error("has a damaged header: write the file again")
    if descr is None or _KIND.fullmatch(descr[1]) is None:
        raise error(f"holds {_named(descr)}: must hold numbers, text or true/false")
    sizes = [entry.strip().removesuffix("L") for entry in shape[1].split(",") if entry.strip()]
    if len(sizes) > _MOST_AXES or not all(n.isdigit() and len(n) <= _MOST_DIGITS for n in sizes):
        raise error("has a damaged header: write the file again")
    try:
        dtype = np.dtype(descr[1])
    except (TypeError, ValueError):
        raise error(f"holds {descr[1]!r}: must hold numbers, text or true/false") from None
    fortran = "F" if order[1] == "True" else "C"
    return dtype, fortran, tuple(map(int, sizes)), len(MAGIC) + 2 + width + length


def _check_text(data: bytes, dtype: np.dtype[Any], error: Fail) -> None:
    """Refuse numbers that are no characters: text has none beyond Unicode, nor half of a pair."""
    code = np.frombuffer(data, dtype.byteorder + "u4" if dtype.byteorder in "<>" else "u4")
    if ((code > _LAST_CHARACTER) | ((code >= 0xD800) & (code < 0xE000))).any():
        raise error("holds text that is none: write the file again")


def _named(descr: re.Match[str] | None) -> str:
    """The type of entries that are no numbers or text, for an error message."""
    if descr is None:
        return "records"
    return "pickled objects, which are not loaded" if "O" in descr[1] else repr(descr[1])
