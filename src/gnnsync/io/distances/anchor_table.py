"""Points with known positions: a file, a table, a dictionary or an array."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError, ParameterError, printable
from gnnsync.io.distances.anchor_conflicts import warn_of_conflicts
from gnnsync.io.distances.schema import ANCHORS
from gnnsync.io.input.source import Source, shorten
from gnnsync.io.objects import array_of, titles_of
from gnnsync.io.tables.arrays import choose_columns, name_column, real_column
from gnnsync.io.tables.columns import read_columns
from gnnsync.io.tables.parquet import read_parquet_columns
from gnnsync.typing import FloatArray

_KINDS = "a file name, a dictionary {name: (x, y)}, a DataFrame with name, x, y, or an array (a, 3)"


def with_anchors(
    network: DistanceNetwork,
    anchors: Any,
    *,
    encoding: str | None = None,
    keep_names: bool = False,
) -> DistanceNetwork:
    """The network with these anchors in place of its own; None leaves it as it is.

    A warning names two anchors that are farther apart than the distances between them allow.

    Args:
        network: the distances.
        anchors: lines `name,x,y` of a file (.csv, .tsv, .txt, .parquet, also .gz), a dictionary
            {name: (x, y)}, a DataFrame or another table with columns name, x, y, or an array (a, 3)
            of numbers of points with their x and y.
        encoding: of a text file.
        keep_names: see `gnnsync.read`.
    """
    if anchors is None:
        return network
    where, rows = _rows(anchors, encoding, keep_names)
    number = {name: i for i, name in enumerate(network.point_names)}
    by_text = {str(name): i for name, i in number.items()}
    place: dict[int, tuple[float, float]] = {}
    at: dict[tuple[float, float], int] = {}
    for line, name, spot in rows:
        i = number.get(name, by_text.get(str(name)))
        shown = _shown(name)
        if i is None:
            raise where(
                f"no distance is to the anchor {shown}: correct its name or remove it", line
            )
        if i in place and place[i] != spot:
            one, two = ("({:g}, {:g})".format(*found) for found in (place[i], spot))
            raise where(f"anchor {shown} is at {one} and at {two}: remove one of them", line)
        if at.setdefault(spot, i) != i:
            other = _shown(network.name(at[spot]))
            raise where(f"anchors {other} and {shown} are at one place: correct one of them", line)
        place[i] = spot
    known = np.array(list(place.values())).reshape(-1, 2)
    numbers = np.array(list(place), dtype=np.int64)
    held = network.replace(anchors=numbers, anchor_positions=known)
    warn_of_conflicts(held)
    return held


def _shown(name: Hashable) -> str:
    """The name of a point as error messages show it."""
    return shorten(name) if isinstance(name, str) else printable(repr(name))


def _rows(anchors: Any, encoding: str | None, keep_names: bool) -> tuple[Any, list[Any]]:
    """What makes an error of a problem and a line, and (line, name, (x, y)) of each anchor."""
    if isinstance(anchors, str | os.PathLike):
        return _file_rows(anchors, encoding, keep_names)
    titles = None if isinstance(anchors, Mapping) else titles_of(anchors)
    if titles is not None:
        chosen = choose_columns([str(title) for title in titles], {}, ANCHORS)
        keys = {str(title): title for title in titles}
        columns = {column: array_of(anchors[keys[title]]) for column, title in chosen.items()}
        return _problem, _table_rows(columns)
    if isinstance(anchors, Mapping):
        names = list(anchors)
        spots = [np.atleast_1d(np.asarray(anchors[name])) for name in names]
        wrong = next((k for k, spot in enumerate(spots) if spot.shape != (2,)), None)
        if wrong is not None:
            allowed = f"two numbers (x, y) for {names[wrong]}"
            raise ParameterError("anchors", anchors[names[wrong]], allowed)
        listed = np.array(spots).reshape(-1, 2)
        return _problem, _named_rows(names, {"x": listed[:, 0], "y": listed[:, 1]})
    try:
        array = np.asarray(anchors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("anchors", anchors, _KINDS) from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise ParameterError("anchors", anchors, _KINDS)
    return _problem, _table_rows(dict(zip(ANCHORS.default, array.T, strict=True)))


def _file_rows(
    path: str | os.PathLike[str], encoding: str | None, keep_names: bool
) -> tuple[Any, list[Any]]:
    source = Source(path, encoding=encoding)
    if Path(source.path).suffix.lower() == ".parquet":
        with source.named_errors():
            return source.error, _table_rows(read_parquet_columns(source, None, ANCHORS))
    table = read_columns(source, None, ANCHORS, keep_names=keep_names)
    spots = np.stack([table.numbers["x"], table.numbers["y"]], axis=1).tolist()
    names = [table.names[k] for k in table.index[0].tolist()]
    lines = table.line.tolist()
    return source.error, [
        (line, name, tuple(spot)) for line, name, spot in zip(lines, names, spots, strict=True)
    ]


def _problem(problem: str, line: int | None = None) -> Exception:
    return GraphError(problem)


def _table_rows(columns: Mapping[str, Any]) -> list[Any]:
    return _named_rows(name_column(columns, "name"), columns)


def _named_rows(names: list[Hashable], columns: Mapping[str, Any]) -> list[Any]:
    x, y = (_values(columns, title) for title in ("x", "y"))
    return [(None, name, (a, b)) for name, a, b in zip(names, x, y, strict=True)]


def _values(columns: Mapping[str, Any], title: str) -> list[float]:
    values: FloatArray | None = real_column(columns, title)
    assert values is not None
    return values.tolist()
