"""Encodings of text: which one a file has, and what to say if it is none."""

from __future__ import annotations

import codecs

from gnnsync.errors import ParameterError

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# How other kinds of files begin, and what to do with them.
_KINDS = {
    b"PK\x03\x04": "is a zip archive or an Excel workbook: extract it, or save it as CSV",
    b"PAR1": "is Parquet: let its name end in .parquet, or add --format parquet",
    b"BZh": "is compressed by bzip2: expand it, or compress it by gzip",
    b"\xfd7zXZ": "is compressed by xz: expand it, or compress it by gzip",
    b"<html": "is a web page, not a table: download the file itself",
    b"<!DOCTYPE": "is a web page, not a table: download the file itself",
    b'{"': "is JSON: write it as CSV with the columns src,dst,offset",
    b'[{"': "is JSON: write it as CSV with the columns src,dst,offset",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd: expand it, or compress it by gzip",
}
_HEAD = 4096  # bytes that are looked at
# Share of zeros among the bytes of one parity that tells UTF-16 from other bytes.
_MANY_ZEROS = 0.4
# Bytes that text in UTF-8 or Latin-1 does not have.
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x0b\x1b")


def check_encoding(name: str | None) -> str | None:
    """Return the name of an encoding if Python knows it as one of text."""
    if name is None:
        return None
    try:
        b" ".decode(name, "ignore")
        codecs.getincrementaldecoder(name)
    except (LookupError, TypeError, ValueError):
        allowed = "an encoding of text, such as utf-8, latin-1, cp1252 or utf-16"
        raise ParameterError("encoding", name, allowed) from None
    return name


def text_decoder(
    head: bytes, encoding: str | None = None
) -> tuple[codecs.IncrementalDecoder | None, str]:
    """A decoder for a file that begins with `head`, or None and why there is none."""
    if encoding is not None:
        return codecs.getincrementaldecoder(encoding)(), ""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return codecs.getincrementaldecoder(name)(), ""
    problem = _problem(head[:_HEAD])
    return (None if problem else codecs.getincrementaldecoder("utf-8")()), problem


def explain_bytes(error: UnicodeDecodeError) -> str:
    """What to do with bytes that are no text in the encoding that was tried."""
    byte = f"byte 0x{error.object[error.start]:02x}"
    if not error.encoding.replace("_", "-").lower().startswith("utf-8"):
        return f"is not text in {error.encoding} ({byte}): add --encoding with the right one"
    around = error.object[max(error.start - _HEAD, 0) : error.start + _HEAD]
    if around.translate(None, _CONTROL) != around:
        return f"is not text in UTF-8 ({byte}) but binary: give text, or name its --format"
    return (
        f"is not text in UTF-8 ({byte}): if it is Latin-1 (Western European), add --encoding "
        "latin-1, else save it as UTF-8"
    )


def _problem(head: bytes) -> str:
    """Why the first bytes of a file without a mark are not text; nothing if they may be."""
    for start, what in _KINDS.items():
        if head.startswith(start):
            return what
    if b"\0" not in head:
        return ""
    half = max(len(head) // 2, 1)
    for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if zeros.count(0) > _MANY_ZEROS * half:
            other = head[0::2] if name.endswith("le") else head[1::2]
            if other.count(0) <= _MANY_ZEROS * half:
                return f"is UTF-16 without a byte order mark: add --encoding {name}"
    return "is a binary file, not text: give text, or name its format by --format"
