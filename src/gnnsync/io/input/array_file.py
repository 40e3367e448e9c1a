"""Files of arrays, `.npz` and `.npy`, in bounded memory and without unpickling."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Container
from typing import Any, BinaryIO

from numpy.typing import NDArray

from gnnsync.errors import DataFileError
from gnnsync.io.input.compression import check_expansion
from gnnsync.io.input.npy import MAGIC, read_npy
from gnnsync.io.input.source import STDIN, Source, cause, shorten

# A graph or a solution has about ten arrays.
_MOST_ARRAYS = 1000
_ENDING = ".npy"
# Whatever the archive's reader raises at damaged bytes.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    ValueError,  # with errors of text
    LookupError,
    ArithmeticError,
    NotImplementedError,
    RuntimeError,
)


def load_arrays(source: Source, names: Container[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of a `.npz` file by name, or the one of a `.npy` file as `array`.

    Args:
        source: the file.
        names: arrays of a `.npz` file that are read, as far as it has them; all if None.

    Raises:
        DataFileError: the file is damaged, claims more than it holds, expands to many times its
            size, or holds objects, which would have to be unpickled.
    """
    with source.open() as handle:
        # Archives are read from their end, which standard input does not have.
        file = io.BytesIO(handle.read()) if source.path == STDIN else handle
        try:
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            head = file.read(len(MAGIC))
            file.seek(0)
            if not head:
                raise source.error("is empty: write the file again")
            if head == MAGIC:
                return {"array": read_npy(file, size, source.error)}
            return _load_archive(source, file, size, names)
        except DataFileError:
            raise
        except _BROKEN as error:
            kind = ".npy" if source.path.lower().endswith(".npy") else ".npz"
            raise source.error(
                f"is not a valid {kind} file ({cause(error)}): write it again"
            ) from None


def _load_archive(
    source: Source, file: BinaryIO, size: int, names: Container[str] | None
) -> dict[str, NDArray[Any]]:
    arrays = {}
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > _MOST_ARRAYS:
            raise source.error(f"holds {len(members)} arrays: must be at most {_MOST_ARRAYS}")
        check_expansion(sum(member.file_size for member in members), size, source.error)
        for member in members:
            name = member.filename.removesuffix(_ENDING)
            if names is not None and name not in names:
                continue
            if member.flag_bits & 1:
                raise source.error(f"{shorten(name)} is encrypted: write the file without")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise source.error(f"{shorten(name)} is compressed by an unknown method: use zip's")
            with archive.open(member) as stream:
                arrays[name] = _read_member(source, stream, name, member.file_size)
    return arrays


def _read_member(source: Source, stream: Any, name: str, size: int) -> NDArray[Any]:
    """One array; the archive's reader returns no more bytes than it declares."""
    return read_npy(stream, size, lambda problem: source.error(f"{shorten(name)} {problem}"))
