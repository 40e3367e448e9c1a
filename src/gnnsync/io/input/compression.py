"""Compressed files: a bound on their expanded size, and gzip expanded piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

GZIP_MAGIC = b"\x1f\x8b"
# Tables of numbers shrink to a fifth or a tenth, the most regular ones to a hundredth. What expands
# to more than this many times its size, and to more than the free part, is no table.
MOST_EXPANSION = 250
_FREE = 64 << 20  # bytes
_GZIP_WINDOW = 31  # zlib's code for a stream with the header and checksum of gzip


def check_expansion(made: int, read: int, error: Callable[[str], Exception]) -> None:
    """Refuse `read` compressed bytes that expand to `made`, or to that many so far.

    Args:
        made: bytes after expansion.
        read: bytes before it.
        error: makes the exception for a problem.
    """
    if made > max(_FREE, MOST_EXPANSION * read):
        raise error(
            f"expands to more than {MOST_EXPANSION} times its size: if it holds measurements, "
            "give it uncompressed"
        )


def expand(
    stored: Iterator[bytes], size: int, error: Callable[[str], Exception]
) -> Iterator[bytes]:
    """The expanded bytes of a gzip stream, in pieces of at most `size` bytes.

    Args:
        stored: the compressed bytes in pieces.
        size: most bytes of a piece.
        error: makes the exception for a problem.
    """
    decoder = zlib.decompressobj(_GZIP_WINDOW)
    read, made = 0, 0
    for piece in stored:
        read += len(piece)
        while piece:
            if decoder.eof:  # a file may hold several streams, and zeros behind them
                piece = piece.lstrip(b"\0")
                decoder = zlib.decompressobj(_GZIP_WINDOW) if piece else decoder
                if not piece:
                    break
            try:
                data = decoder.decompress(piece, size)
            except zlib.error:
                raise error("is damaged gzip: compress the file again") from None
            made += len(data)
            check_expansion(made, read, error)
            if data:
                yield data
            piece = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
    while not decoder.eof and (data := decoder.decompress(b"", size)):  # what it still holds
        yield data
    if not decoder.eof:
        raise error("ends within the gzip stream: copy or compress the file again")
