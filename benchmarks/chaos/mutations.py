"""Damage to files: bytes, words of text, arrays within archives."""

from __future__ import annotations

import gzip
import io
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from random import Random

# Whole numbers at which programs break.
EDGES = (0, 1, -1, 2, 3, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, -(2**31), 2**32 - 1)
EDGES_64 = (*EDGES, 2**53, 2**62, 2**63 - 1, -(2**63))
WORDS = (
    *(b"nan", b"inf", b"-inf", b"1e999", b"1e308", b"5e-324", b"-0", b"1_0", b"0x10", b"1e-400"),
    *(b"", b" ", b"#", b'"', b"'", b'"""', b",", b";", b"\t", b"\n", b"\r", b"\0", b"\\"),
    *(b"=1+1", b"@a", b"-", b"+", b"\x1b[2J", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xff"),
    *(b"9" * 20, b"9" * 400, b"9" * 5000, b"x" * 70_000, b"[" * 3000, b"{" * 3000, b"-" * 3000),
    *(b"1000000000000", b"4294967296", b"-5", b"007", b"1,5", b"1.2.3", b"\xd9\xa3", b"\xc2\xb2"),
    *(b"src", b"dst", b"offset", b"weight", b"group", b"trusted", b"true", b"VERTEX_SE2", b"FIX"),
    *(b"EDGE_SE2", b"EDGE_SE3:QUAT", b"%%MatrixMarket", b"complex", b"symmetric", b"null", b"1e5"),
)
_WORD = re.compile(rb"[^\s,;{}\[\]:\"]+")
_FORMATS = ("b", "<h", ">h", "<i", ">i", "<q", ">q", "<d", "<f")
_NUMBERS = (0.0, -1.0, 1e308, 5e-324, float("nan"), float("inf"), 0.1)


def damage_bytes(data: bytes, rng: Random) -> bytes:
    """A few changes of bytes, numbers and stretches."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        _BYTES[rng.randrange(len(_BYTES))](found, rng)
    return bytes(found)


def damage_text(data: bytes, rng: Random) -> bytes:
    """A few words replaced by others, or lines moved; sometimes bytes changed too."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        words = list(_WORD.finditer(data))
        if rng.random() < 0.2 or not words:
            lines = data.split(b"\n")
            rng.choice((_swap, _repeat, _remove, _join))(lines, rng)
            data = b"\n".join(lines)
            continue
        word = rng.choice(words)
        other = rng.choice(WORDS) if rng.random() < 0.7 else rng.choice(words)[0]
        data = data[: word.start()] + other + data[word.end() :]
    return damage_bytes(data, rng) if rng.random() < 0.3 else data


def damage_archive(data: bytes, rng: Random) -> bytes:
    """An archive with damaged members and right checksums, or with damaged bytes of its own."""
    if rng.random() < 0.3:
        return damage_bytes(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(members))
        name, content = members[place]
        change = rng.random()
        if change < 0.75:
            members[place] = name, damage_array(content, rng)
        elif change < 0.85:
            members[place] = rng.choice(members)[0], content
        elif change < 0.95:
            members[place] = name, rng.choice(members)[1]
        elif len(members) > 1:
            members.pop(place)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as made:
        for number, (name, content) in enumerate(members):
            # Two members of one name would be a warning of the writer's.
            same = any(name == other for other, _ in members[:number])
            made.writestr(f"{number}{name}" if same else name, content)
    return file.getvalue()


def damage_array(data: bytes, rng: Random) -> bytes:
    """A `.npy` with other numbers behind its header, or another header."""
    start = min(len(data), 128)
    change = rng.random()
    if change < 0.2:
        return damage_text(data[:start], rng) + data[start:]
    if change < 0.3 or len(data) - start < 8:
        return damage_bytes(data, rng)
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = start + rng.randrange(len(found) - start) // 4 * 4
        _write_number(found, at, rng)
    return bytes(found)


def compressed(damage: Callable[[bytes, Random], bytes]) -> Callable[[bytes, Random], bytes]:
    """Damage of the text within gzip, or of the compressed bytes."""

    def damage_compressed(data: bytes, rng: Random) -> bytes:
        if rng.random() < 0.4:
            return damage_bytes(data, rng)
        return gzip.compress(damage(gzip.decompress(data), rng), 1, mtime=0)

    return damage_compressed


def spliced(seeds: Sequence[bytes], rng: Random) -> bytes:
    """The beginning of one file and the end of another."""
    one, two = rng.choice(seeds), rng.choice(seeds)
    return one[: rng.randrange(len(one) + 1)] + two[rng.randrange(len(two) + 1) :]


def _flip(data: bytearray, rng: Random) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(data: bytearray, rng: Random) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _number(data: bytearray, rng: Random) -> None:
    if data:
        _write_number(data, rng.randrange(len(data)), rng)


def _write_number(data: bytearray, at: int, rng: Random) -> None:
    kind = rng.choice(_FORMATS)
    size = struct.calcsize(kind)
    if kind[-1] in "df":
        value = rng.choice(_NUMBERS)
        value = value if kind[-1] == "d" or abs(value) < 1e38 else 0.0
        data[at : at + size] = struct.pack(kind, value)
        return
    low, high = -(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1
    fitting = [edge for edge in EDGES_64 if low <= edge <= high]
    data[at : at + size] = struct.pack(kind, rng.choice(fitting))


def _cut(data: bytearray, rng: Random) -> None:
    if data:
        at = rng.randrange(len(data))
        del data[at : at + rng.choice((1, 2, 8, 64, len(data)))]


def _double(data: bytearray, rng: Random) -> None:
    if data:
        at = rng.randrange(len(data))
        part = data[at : at + rng.choice((1, 8, 64, 512))]
        data[at:at] = part * rng.choice((1, 1, 2, 100))


def _insert(data: bytearray, rng: Random) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(WORDS) if rng.random() < 0.5 else rng.randbytes(rng.randrange(1, 16))


_BYTES = (_flip, _set, _set, _number, _number, _cut, _double, _insert)


def _swap(lines: list[bytes], rng: Random) -> None:
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]


def _repeat(lines: list[bytes], rng: Random) -> None:
    at = rng.randrange(len(lines))
    lines[at:at] = [lines[at]] * rng.choice((1, 2, 50))


def _remove(lines: list[bytes], rng: Random) -> None:
    del lines[rng.randrange(len(lines))]


def _join(lines: list[bytes], rng: Random) -> None:
    at = rng.randrange(len(lines))
    lines[at : at + 2] = [b"".join(lines[at : at + 2])]
