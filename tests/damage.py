"""Kinds of damage to the files of jobs and sweeps: by a full disk, a crash, an editor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

DEEP = 1_000


def _row(content: bytes, change: Callable[[dict], object]) -> bytes:
    """The file with its first row changed; other files become a list of what is no row."""
    try:
        tree = json.loads(content)
        change(tree["rows"][0])
    except (ValueError, KeyError, TypeError):
        tree = [1, "two", None, {"three": [3]}]
    return json.dumps(tree).encode()


def _numbers(content: bytes, text: bytes) -> bytes:
    """The file with every number replaced; one without numbers becomes this text."""
    changed = re.sub(rb"(?<=[ :\[])-?\d+(\.\d+)?(?=[,\s\]}])", text, content)
    return changed if changed != content else text


# By name: the bytes of a whole file → those of a broken one.
KINDS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: max(len(content) // 2, 1)],
    "garbage": lambda content: bytes(range(128, 256)) * 4,
    "zeros": lambda content: b"\0" * len(content),
    "nan": lambda content: _numbers(content, b"NaN"),
    "deep list": lambda content: b"[" * DEEP + b"]" * DEEP,
    "deep mapping": lambda content: b'{"rows":' * DEEP + b"1" + b"}" * DEEP,
    "400 digits": lambda content: _numbers(content, b"9" * 400),
    "a number": lambda content: b"7",
    "null": lambda content: b"null",
    "empty mapping": lambda content: b"{}",
    "row of lists": lambda content: _row(content, lambda row: row.update(mse=[1.0])),
    "row of texts": lambda content: _row(content, lambda row: row.update({"data.eta": "high"})),
    "row of mappings": lambda content: _row(content, lambda row: row.update(method={"a": 1})),
    "rows of another kind": lambda content: _row(content, dict.clear).replace(b"{}", b"7"),
}
