"""Reading files safely: text in bounded blocks, errors that state file and line."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from gnnsync.errors import DataFileError, GraphError, first_line, printable
from gnnsync.io.input.compression import GZIP_MAGIC, expand
from gnnsync.io.input.encoding import explain_bytes, text_decoder

STDIN = "-"
MAX_LINE = 1 << 16  # characters; a longer line is no table but a broken file
_BLOCK = 1 << 20  # bytes read at once
_LONGEST_CAUSE = 150  # characters of another library's message
_LONGEST_QUOTE = 40  # characters of a field that an error message repeats

Progress = Callable[[int, int], None]
"""Called with (bytes read, bytes in total; 0 if unknown)."""


class Source:
    """A file to read, or standard input for `-`, with its name for error messages.

    Args:
        path: file name, or `-`.
        progress: called after each block of text that is read.
        encoding: of text; by default UTF-8, or UTF-16 if the file begins with its mark.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        progress: Progress | None = None,
        encoding: str | None = None,
    ) -> None:
        self.path, self.progress, self.encoding = os.fspath(path), progress, encoding
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
            if "://" in self.path:
                raise self.error("is an address, not a file: download it first") from None
            raise self.error("no such file: check its name and folder") from None
        except (OSError, ValueError) as error:
            raise self.error(
                f"cannot be opened ({reason(error)}): check its name and permissions"
            ) from None
        with handle:
            yield handle

    def blocks(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (number of the first line, lines of text) in blocks of about a megabyte.

        Text compressed by gzip is expanded; line endings are any. Memory is bounded: a line of
        more than `MAX_LINE` characters raises `DataFileError` before it is read to its end.
        """
        number, rest, decoder = 1, "", None
        for data in self._chunks():
            if decoder is None:
                decoder = io.IncrementalNewlineDecoder(self._decoder(data), translate=True)
            try:
                text = rest + decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                line = number + error.object[: error.start].count(b"\n")
                raise self.error(explain_bytes(error), line) from None
            except UnicodeError:
                name = self.encoding or "the encoding of its mark"
                raise self.error(
                    f"is not text in {name}: add --encoding with the right one"
                ) from None
            lines = text.split("\n")
            rest = lines.pop() if data else ""
            if not data and lines[-1] == "":
                lines.pop()
            longest = max(map(len, lines), default=0)
            if longest > MAX_LINE or len(rest) > MAX_LINE:
                at = next((i for i, line in enumerate(lines) if len(line) > MAX_LINE), None)
                raise self.error(
                    f"longer than {MAX_LINE} characters: give one measurement per line",
                    line=number + (len(lines) if at is None else at),
                )
            if lines:
                yield number, lines
                number += len(lines)

    def _chunks(self) -> Iterator[bytes]:
        """The expanded bytes of the file in pieces, at last an empty one."""
        with self.open() as handle:
            total = 0 if self.path == STDIN else os.fstat(handle.fileno()).st_size
            first = self._read(handle)
            chunks = self._stored(handle, first, total)
            if first.startswith(GZIP_MAGIC):
                chunks = expand(chunks, _BLOCK, self.error)
            yield from chunks
            yield b""

    def _stored(self, handle: BinaryIO, data: bytes, total: int) -> Iterator[bytes]:
        done = 0
        while data:
            done += len(data)
            if self.progress is not None:
                self.progress(done, total)
            yield data
            data = self._read(handle)

    def _read(self, handle: BinaryIO) -> bytes:
        try:
            return handle.read(_BLOCK)
        except OSError as error:
            raise self.error(f"cannot be read ({reason(error)}): copy it and try again") from None

    def _decoder(self, head: bytes) -> codecs.IncrementalDecoder:
        decoder, problem = text_decoder(head, self.encoding)
        if decoder is None:
            raise self.error(problem)
        return decoder

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Give errors of the graph that is built from the file the name of the file."""
        try:
            yield
        except GraphError as error:
            raise self.error(first_line(error)) from None
        except MemoryError:
            raise self.error("needs more memory than there is: give a part of it") from None

    def error(self, problem: str, line: int | None = None) -> DataFileError:
        """An error that states this file and, if known, the line; one line fit for a terminal."""
        place = self.name if line is None else f"{self.name}, line {line}"
        return DataFileError(printable(f"{place}: {problem}"))


def shorten(text: str) -> str:
    """The text in quotes, shortened so that it fits in an error message."""
    return repr(text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "...")


def cause(error: BaseException) -> str:
    """The first line of what a library says of a file, shortened for an error message."""
    text = first_line(error)
    return text if len(text) <= _LONGEST_CAUSE else text[: _LONGEST_CAUSE - 3] + "..."


def reason(error: Exception) -> str:
    """The operating system's reason for a failure."""
    return getattr(error, "strerror", None) or str(error)
