"""Writing files safely: a file appears whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gnnsync.errors import DataFileError, GnnsyncError
from gnnsync.io.input.source import reason


class OutputError(GnnsyncError):
    """Results cannot be written."""


@contextmanager
def atomic_output(path: str | os.PathLike[str], mode: str = "w") -> Iterator[Any]:
    """Open a temporary file beside `path` that is renamed to `path` when the block succeeds.

    If the block raises, the temporary file is removed and `path` stays as it was. Modes are `w`
    (text in UTF-8, newlines as written) and `wb`. A file that is replaced keeps its permissions.
    """
    target = Path(path)
    if target.is_dir():
        raise DataFileError(f"{target}: is a directory: give a file")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        raise DataFileError(f"{target}: cannot be written: {reason(error)}") from None
    try:
        encoding, newline = (None, None) if "b" in mode else ("utf-8", "")
        with os.fdopen(descriptor, mode, encoding=encoding, newline=newline) as handle:
            yield handle
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file atomically."""
    with atomic_output(path, "wb") as handle:
        handle.write(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file atomically, in UTF-8."""
    write_bytes(path, text.encode())


def writable_directory(path: Path, option: str = "output_dir") -> Path:
    """Create the folder and check that files can be written there, before any work is done.

    Args:
        path: the folder.
        option: what the user sets to choose another folder, for the error message.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"0")
    except OSError as error:
        separator = " " if option.startswith("--") else "="
        raise OutputError(
            f"{option}: cannot write in {path} ({error.strerror or error}): "
            f"choose another with {option}{separator}FOLDER"
        ) from None
    return path
