"""Result rows gathered by column into a pandas table with one type per column."""

from __future__ import annotations

from typing import Any

import pandas as pd

# Whole numbers from here on do not fit into a column of integers.
_BOUND = 2**63


class Columns:
    """Rows collected by column: 100,000 rows kept as dictionaries would take a gigabyte."""

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {}
        self._count = 0

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Append rows; a column that a row lacks gets None there."""
        for name in dict.fromkeys(name for row in rows for name in row):
            column = self._values.setdefault(name, [])
            column.extend([None] * (self._count - len(column)))
            column.extend([row.get(name) for row in rows])
        self._count += len(rows)

    def frame(self) -> pd.DataFrame:
        """All rows so far as one table."""
        for column in self._values.values():
            column.extend([None] * (self._count - len(column)))
        return pd.DataFrame({name: _series(values) for name, values in self._values.items()})


def encodable(text: str) -> str:
    """The text with lone surrogates replaced: JSON can hold them, UTF-8 files cannot."""
    return text.encode(errors="replace").decode()


def _series(values: list[Any]) -> pd.Series:
    """One type per column: numeric or boolean if all values are, otherwise text."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int, float}:
        whole = kinds == {int} and None not in values and all(-_BOUND <= v < _BOUND for v in values)
        return pd.Series(values, dtype="int64" if whole else float)
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean")
    texts = [None if v is None else str(v) for v in values]
    try:
        "".join(filter(None, texts)).encode()
    except UnicodeEncodeError:
        texts = [t and encodable(t) for t in texts]
    return pd.Series(texts, dtype="str")
