"""Reading files safely: text in bounded blocks, errors that state file and line."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from gnnsync.errors import DataFileError

STDIN = "-"
MAX_LINE = 1 << 16  # characters; a longer line is no table but a broken file
_BLOCK = 1 << 20  # bytes read at once
_LONGEST_QUOTE = 40  # characters of a field that an error message repeats

Progress = Callable[[int, int], None]
"""Called with (bytes read, bytes in total; 0 if unknown)."""


class Source:
    """A file to read, or standard input for `-`, with its name for error messages.

    Args:
        path: file name, or `-`.
        progress: called after each block of text that is read.
    """

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        self.path, self.progress = os.fspath(path), progress
        self.name = "standard input" if self.path == STDIN else self.path

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open for reading bytes; a missing file or a directory raises `DataFileError`."""
        if self.path == STDIN:
            yield sys.stdin.buffer
            return
        if os.path.isdir(self.path):
            raise self.error("is a directory: give a file")
        try:
            handle = open(self.path, "rb")  # noqa: SIM115 (only errors of opening are caught)
        except FileNotFoundError:
            raise self.error("no such file") from None
        except (OSError, ValueError) as error:
            raise self.error(f"cannot be opened: {reason(error)}") from None
        with handle:
            yield handle

    def blocks(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (number of the first line, lines of text) in blocks of about a megabyte.

        The text is UTF-8 with any line ending. Memory is bounded: a line of more than `MAX_LINE`
        characters raises `DataFileError` before it is read to its end.
        """
        with self.open() as handle:
            total = 0 if self.path == STDIN else os.fstat(handle.fileno()).st_size
            done = 0
            decoder = io.IncrementalNewlineDecoder(
                codecs.getincrementaldecoder("utf-8-sig")(), translate=True
            )
            number, rest = 1, ""
            while True:
                try:
                    data = handle.read(_BLOCK)
                    text = rest + decoder.decode(data, final=not data)
                except UnicodeDecodeError:
                    raise self.error("is not text in UTF-8", line=number) from None
                except OSError as error:
                    raise self.error(f"cannot be read: {reason(error)}") from None
                done += len(data)
                if self.progress is not None:
                    self.progress(done, total)
                lines = text.split("\n")
                rest = lines.pop() if data else ""
                if not data and lines[-1] == "":
                    lines.pop()
                longest = max(map(len, lines), default=0)
                if longest > MAX_LINE or len(rest) > MAX_LINE:
                    at = next((i for i, line in enumerate(lines) if len(line) > MAX_LINE), None)
                    raise self.error(
                        f"longer than {MAX_LINE} characters",
                        line=number + (len(lines) if at is None else at),
                    )
                if lines:
                    yield number, lines
                    number += len(lines)
                if not data:
                    return

    def error(self, problem: str, line: int | None = None) -> DataFileError:
        """An error that states this file and, if known, the line."""
        return DataFileError(
            f"{self.name}: {problem}" if line is None else f"{self.name}, line {line}: {problem}"
        )


def shorten(text: str) -> str:
    """The text in quotes, shortened so that it fits in an error message."""
    return repr(text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "...")


def reason(error: Exception) -> str:
    """The operating system's reason for a failure."""
    return getattr(error, "strerror", None) or str(error)
