"""Matrix Market: a sparse matrix whose stored entry (i, j) is the offset theta[i] - theta[j]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

import numpy as np

from gnnsync.errors import DataFileError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.numbers import check_declared_nodes, finite_number, is_natural
from gnnsync.io.input.offsets import offset_radians
from gnnsync.io.input.source import Source, shorten
from gnnsync.units import RADIANS, Unit


def read_mtx(source: Source, unit: Unit | None = None) -> MeasurementGraph:
    """Read a square `matrix coordinate real|integer general|skew-symmetric` file.

    A stored zero is a measurement. A skew-symmetric file stores one of (i, j) and (j, i), which
    gives one edge. Nodes are numbered from 0, while the file counts from 1.
    """
    lines = _lines(source)
    line, banner = next(lines, (1, ""))
    _check_banner(source, line, banner)
    entries = ((at, text.split()) for at, text in lines if text.strip() and text[0] != "%")
    line, size = next(entries, (line, []))
    if len(size) != 3 or not all(map(is_natural, size)):
        raise source.error("expected the line of sizes: rows columns entries", line)
    rows, columns, count = map(int, size)
    if rows != columns or rows < 1:
        raise source.error(f"a matrix of {rows} × {columns}: must be square", line)
    src, dst, offset = [], [], []
    for line, word in entries:
        i, j, value = _entry(source, line, word, rows)
        src.append(i - 1)
        dst.append(j - 1)
        offset.append(value)
    if len(offset) != count:
        raise source.error(f"{len(offset)} entries where the line of sizes says {count}")
    if not offset:
        raise source.error("holds no measurements")
    check_declared_nodes(rows, count, source.error)
    return MeasurementGraph(np.array([src, dst]), offset_radians(source.name, offset, unit), rows)


def write_mtx(graph: MeasurementGraph, handle: TextIO, unit: Unit = RADIANS) -> None:
    """Write the offsets; a graph with weights, trusted edges, groups or node names is refused."""
    for name in ("weight", "trusted", "group", "node_names"):
        if getattr(graph, name) is not None:
            raise DataFileError(f".mtx cannot hold {name}: write .npz, or replace it by None")
    handle.write("%%MatrixMarket matrix coordinate real general\n")
    handle.write("% entry (i, j): theta_i - theta_j\n")
    handle.write(f"{graph.num_nodes} {graph.num_nodes} {graph.num_edges}\n")
    offset = unit.from_radians(graph.offset)
    for i, j, value in zip(*(graph.edge_index + 1).tolist(), offset.tolist(), strict=True):
        handle.write(f"{i} {j} {value!r}\n")


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for first_line, lines in source.blocks():
        yield from enumerate(lines, first_line)


def _check_banner(source: Source, line: int, banner: str) -> None:
    word = banner.lower().split()
    if len(word) != 5 or word[0] != "%%matrixmarket" or word[1] != "matrix":
        raise source.error("does not begin with a %%MatrixMarket matrix line", line)
    wanted = {
        2: ("coordinate",),
        3: ("real", "integer"),
        # θ_i - θ_j is antisymmetric: a symmetric matrix would contradict itself.
        4: ("general", "skew-symmetric"),
    }
    for place, allowed in wanted.items():
        if word[place] not in allowed:
            raise source.error(f"{shorten(word[place])}: must be {' or '.join(allowed)}", line)


def _entry(source: Source, line: int, word: list[str], n: int) -> tuple[int, int, float]:
    if len(word) != 3:
        raise source.error(f"{len(word)} fields: an entry is row, column, offset", line)
    node = []
    for name, text in zip(("row", "column"), word[:2], strict=True):
        if not is_natural(text) or not 1 <= int(text) <= n:
            raise source.error(f"{name} {shorten(text)} is not a number from 1 to {n}", line)
        node.append(int(text))
    if node[0] == node[1]:
        raise source.error(f"entry ({node[0]}, {node[1]}) is a self-loop: remove it", line)
    return node[0], node[1], finite_number(source, line, "offset", word[2])
