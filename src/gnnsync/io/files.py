"""Writing files safely: a file appears whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from gnnsync.errors import DataFileError, GnnsyncError
from gnnsync.io.source import reason


class OutputError(GnnsyncError):
    """Results cannot be written."""


@contextmanager
def atomic_output(path: str | os.PathLike[str], mode: str = "w") -> Iterator[TextIO | BinaryIO]:
    """A file that takes its name only once it is written whole; nothing is left on failure."""
    target = Path(path)
    if target.is_dir():
        raise DataFileError(f"{target}: is a directory: give a file")
    try:
        descriptor, temporary = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=".tmp", dir=target.parent
        )
    except OSError as error:
        raise DataFileError(f"{target}: cannot be written: {reason(error)}") from None
    try:
        with _open_descriptor(descriptor, mode) as handle:
            yield handle
        os.chmod(temporary, _default_mode(target))
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file atomically."""
    with atomic_output(path, "wb") as handle:
        handle.write(content)  # type: ignore[arg-type]


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file atomically, in UTF-8."""
    write_bytes(path, text.encode())


def writable_directory(path: Path) -> Path:
    """Create `path` and make sure that files can be written there, before any work is done."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"0")
    except OSError as error:
        raise OutputError(
            f"output_dir: cannot write in {path} ({error.strerror or error}): "
            "choose another with output_dir=FOLDER"
        ) from None
    return path


def _open_descriptor(descriptor: int, mode: str) -> TextIO | BinaryIO:
    if "b" in mode:
        return os.fdopen(descriptor, mode)  # type: ignore[return-value]
    return os.fdopen(descriptor, mode, encoding="utf-8", newline="")  # type: ignore[return-value]


def _default_mode(target: Path) -> int:
    """What `open` would have given: the mode of the file replaced, else 666 less the umask."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
