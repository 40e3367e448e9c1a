"""Parquet: tables of measurements in, tables of any kind out."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from gnnsync.errors import DataFileError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.compression import check_expansion
from gnnsync.io.input.source import STDIN, Source, cause, shorten
from gnnsync.io.tables.arrays import choose_columns, graph_from_columns
from gnnsync.io.tables.titles import OFFSETS, Columns, Schema
from gnnsync.units import Unit

# Most rows per byte of the file: repeated values take hardly any room, and a small file may claim
# to hold billions of rows.
_MOST_ROWS_PER_BYTE = 20
_FREE_ROWS = 1_000_000


def read_parquet(
    source: Source, unit: Unit | None = None, columns: Columns | None = None
) -> MeasurementGraph:
    """Read columns src, dst, offset and, if there are any, weight, group and trusted.

    Titles are those of `ALIASES` in `tables/titles.py`, or named by `columns`; others are not read.
    """
    return graph_from_columns(source.name, read_parquet_columns(source, columns), unit)


def read_parquet_columns(
    source: Source, columns: Columns | None = None, schema: Schema = OFFSETS
) -> dict[str, np.ndarray]:
    """The columns of a schema, as far as the file has them; others are not read."""
    # Half a second to load, for one format.
    import pyarrow as pa
    from pyarrow import parquet

    with source.open() as handle:
        # Parquet is read from its end, which standard input does not have.
        file: Any = io.BytesIO(handle.read()) if source.path == STDIN else handle
        size = file.seek(0, io.SEEK_END)
        if not size:
            *others, last = schema.required
            raise source.error(f"is empty: give a table with {', '.join(others)} and {last}")
        try:
            with parquet.ParquetFile(file) as table:
                found = table.schema_arrow
                chosen = choose_columns(list(found.names), columns or {}, schema)
                text = _check_types(
                    source, {title: found.field(title) for title in chosen.values()}
                )
                _check_sizes(source, table.metadata, size)
            # Text as numbers of distinct values: a value that is repeated takes no room.
            file.seek(0)
            with parquet.ParquetFile(file, read_dictionary=text) as table:
                read = table.read(columns=list(chosen.values()))
            read.validate(full=True)
            return {column: _values(read.column(title)) for column, title in chosen.items()}
        except DataFileError as error:
            given = str(error)
            own = given.startswith(source.name)
            raise (error if own else source.error(given)) from None
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
            problem = f"is not a valid .parquet file ({cause(error)}): write it again"
            raise source.error(problem) from None


def _check_types(source: Source, fields: Mapping[str, Any]) -> list[str]:
    """Refuse columns of other types than numbers, text and booleans; the titles of text."""
    # As above.
    import pyarrow as pa

    numbers = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_decimal,
    )
    text = []
    for title, field in fields.items():
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            text.append(title)
        elif not any(is_kind(kind) for is_kind in numbers):
            raise source.error(f"column {shorten(title)} is {kind}: must be numbers or text")
    return text


def _check_sizes(source: Source, metadata: Any, size: int) -> None:
    """Refuse a file whose rows, or whose expanded bytes, are out of proportion to its own."""
    rows = metadata.num_rows
    if not 0 <= rows <= max(_FREE_ROWS, _MOST_ROWS_PER_BYTE * size):
        raise source.error(
            f"claims {rows} rows in {size} bytes: write the table as .csv if that is right"
        )
    # Of whole groups of rows: PyArrow aborts the process at damaged metadata of a single column.
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    check_expansion(sum(max(group.total_byte_size, 0) for group in groups), size, source.error)


def _values(column: Any) -> np.ndarray:
    """A column as an array; entries of text share the distinct values."""
    # As above.
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column.to_numpy(zero_copy_only=False)
    parts = []
    for chunk in column.chunks:
        distinct = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
        parts.append(distinct[chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)])
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


def write_parquet(columns: Mapping[str, Sequence[Any] | np.ndarray], handle: BinaryIO) -> None:
    """Write columns of equal length by their titles; NaN and None are null.

    Node names of several kinds become text.
    """
    # Half a second to load, for one format.
    import pyarrow as pa
    from pyarrow import parquet

    arrays = {title: _plain(values) for title, values in columns.items()}
    parquet.write_table(pa.table(arrays), handle)


def _plain(values: Sequence[Any] | np.ndarray) -> Any:
    # As above.
    import pyarrow as pa

    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return pa.array(values, from_pandas=True)  # NaN, an unknown number, becomes null
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        return values
    listed = list(values)
    kinds = {type(value) for value in listed if value is not None}
    mixed = not kinds <= {int} and not kinds <= {float, int} and not kinds <= {str}
    return [None if value is None else str(value) for value in listed] if mixed else listed
