"""Measurements read from a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnnsync.data.base import Networks
from gnnsync.data.lazy import lightning_names
from gnnsync.errors import ParameterError, check_choice
from gnnsync.graph import MeasurementGraph
from gnnsync.io import read
from gnnsync.io.graph_file import TRUST
from gnnsync.io.input.encoding import check_encoding
from gnnsync.io.tables.titles import check_columns
from gnnsync.units import Unit, find_unit

__getattr__ = lightning_names(__name__, "FileDataModule")


class FileNetworks(Networks):
    """One network, read from a file; the truth is unknown unless an `.npz` holds it.

    Args:
        path: `.csv`, `.tsv`, `.parquet`, `.g2o`, `.npz` or `.mtx`; see `gnnsync.read`.
        unit: of the offsets: radians, degrees or turns; None for radians.
        format: the format, if it does not follow from the file's ending.
        columns: titles of the columns of a table, as in `gnnsync.read`; None for known ones.
        encoding: of a text file, such as `latin-1`.
        trust: measurements known to be inliers, `odometry` or `none`, as in `gnnsync.read`.
        k: number of groups (sets of angles) that the measurements mix.
        seeds: network seeds; the file is the same for each, so that more than one only repeats it
            (to repeat a training, use trials).
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        unit: str | Unit | None = None,
        format: str | None = None,
        k: int = 1,
        seeds: Sequence[int] = (0,),
        *,
        columns: Mapping[str, str | int | None] | None = None,
        encoding: str | None = None,
        trust: str | None = None,
    ) -> None:
        super().__init__(k=k, seeds=seeds)
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
            raise ParameterError("path", path, "the name of a file of measurements")
        self.path, self.format = path, format
        self.unit = None if unit is None else find_unit(unit)
        # A number in a config is the number of a column, which `read` takes as text.
        given = {name: title for name, title in (columns or {}).items() if title is not None}
        titles = {name: str(t) if type(t) is int else t for name, t in given.items()}
        self.columns = check_columns(titles)  # type: ignore[arg-type]
        self.encoding = check_encoding(encoding)
        self.trust = None if trust is None else check_choice("trust", trust, TRUST)
        self._graph: MeasurementGraph | None = None

    def make_graph(self, seed: int) -> MeasurementGraph:
        """The file's graph, whatever the seed."""
        if self._graph is None:
            graph = read(
                self.path,
                format=self.format,
                unit=self.unit,
                columns=self.columns or None,
                encoding=self.encoding,
                trust=self.trust,
            )
            if graph.angles is not None and graph.angles.shape[1] != self.k:
                raise ParameterError(
                    "k", self.k, f"{graph.angles.shape[1]}, the sets of true angles in {self.path}"
                )
            self._graph = graph
        return self._graph

    def describe(self) -> dict[str, Any]:
        """The file's name without folder, and the size of its graph."""
        graph = self.make_graph(self.seeds[0])
        return {
            "graph": "file",
            "file": Path(self.path).name,
            "n": graph.num_nodes,
            "edges": graph.num_edges,
            "k": self.k,
        }
