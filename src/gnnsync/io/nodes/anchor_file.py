"""Known angles in a text file: node, angle (angle_1 to angle_k if k > 1) per line."""

from __future__ import annotations

from gnnsync.io.input.numbers import finite_number, is_number
from gnnsync.io.input.source import Source
from gnnsync.io.tables.columns import COMMENT
from gnnsync.io.tables.layout import split_lines

_SEPARATORS = "\t;,"


def read_anchor_file(
    source: Source, k: int, what: str = "angle"
) -> list[tuple[int, str, list[float]]]:
    """Line, name of the node and its k angles, in the unit of the file; `what` names other numbers.

    The first line determines the separator (tab, semicolon, comma or white space); a first line
    without a number in its second field is a header, and lines that begin with `#` are comments.
    """
    found: list[tuple[int, str, list[float]]] = []
    delimiter, is_first = None, True
    for first_line, lines in source.blocks():
        kept = ["" if line.lstrip().startswith(COMMENT) else line for line in lines]
        if is_first:
            first = next((line for line in kept if line.strip()), "")
            delimiter = next((mark for mark in _SEPARATORS if mark in first), None)
        for line, row in enumerate(split_lines(source, first_line, kept, delimiter), first_line):
            if not row:
                continue
            fields = [entry.strip() for entry in row]
            header = is_first and len(fields) > 1 and not is_number(fields[1])
            is_first = False
            if header:
                continue
            if len(fields) != k + 1:
                raise source.error(
                    f"{len(fields)} fields: must be node and {k} {what}{'s' * (k > 1)}", line
                )
            angles = [finite_number(source, line, what, text) for text in fields[1:]]
            found.append((line, fields[0], angles))
    if not found:
        raise source.error(f"holds no {what}: give lines node,{what}")
    return found
