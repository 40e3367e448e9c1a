"""A measured table, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Section:
    """One table of results; `figures` holds what is drawn, as plain numbers."""

    title: str
    header: Sequence[str]
    rows: list[list[str]]
    note: str = ""
    figures: dict[str, object] = field(default_factory=dict)

    def markdown(self) -> str:
        lines = [f"## {self.title}", "", self.table()]
        return "\n".join([*lines, "", self.note, ""] if self.note else [*lines, ""])

    def table(self) -> str:
        """The table alone."""
        lines = ["| " + " | ".join(self.header) + " |", "|---" * len(self.header) + "|"]
        return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in self.rows)])


def spread(values: Sequence[float] | np.ndarray, unit: str = "×") -> str:
    """Median and range."""
    low, middle, high = np.min(values), np.median(values), np.max(values)
    return f"{middle:.1f}{unit} ({low:.1f} to {high:.1f})"
