"""Parquet: tables of measurements in, tables of any kind out."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from gnnsync.errors import DataFileError, first_line
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.source import STDIN, Source
from gnnsync.io.tables.arrays import choose_columns, graph_from_columns
from gnnsync.io.tables.titles import Columns
from gnnsync.units import Unit

# Most rows per byte of the file: repeated values take hardly any room, and a small file may claim
# to hold billions of rows.
_MOST_ROWS_PER_BYTE = 20
_FREE_ROWS = 10_000_000


def read_parquet(
    source: Source, unit: Unit | None = None, columns: Columns | None = None
) -> MeasurementGraph:
    """Read columns src, dst, offset and, if there are any, weight, group and trusted.

    Titles are those of `ALIASES` in `tables/titles.py`, or named by `columns`; others are not read.
    """
    # Half a second to load, for one format.
    import pyarrow as pa
    from pyarrow import parquet

    with source.open() as handle:
        # Parquet is read from its end, which standard input does not have.
        file: Any = io.BytesIO(handle.read()) if source.path == STDIN else handle
        size = file.seek(0, io.SEEK_END)
        if not size:
            raise source.error("is empty: give a table with src, dst and offset")
        try:
            table = parquet.ParquetFile(file)
            rows, titles = table.metadata.num_rows, list(table.schema_arrow.names)
            if rows > max(_FREE_ROWS, _MOST_ROWS_PER_BYTE * size):
                raise source.error(
                    f"claims {rows} rows in {size} bytes: write the table as .csv if that is right"
                )
            chosen = choose_columns(titles, columns or {})
            read = table.read(columns=list(chosen.values()))
            arrays = {
                column: read.column(title).to_numpy(zero_copy_only=False)
                for column, title in chosen.items()
            }
        except DataFileError as error:
            given = str(error)
            own = given.startswith(source.name)
            raise (error if own else source.error(given)) from None
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
            problem = f"is not a valid .parquet file ({first_line(error)}): write it again"
            raise source.error(problem) from None
    return graph_from_columns(source.name, arrays, unit)


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
