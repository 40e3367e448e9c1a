"""What the page shows beside its plot: figures, tables and searches, with links to their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnnsync.plots.page.self_contained import image_address
from gnnsync.report.figures import Saved
from gnnsync.report.tables import Table

# Bytes of previews that a page holds; figures beyond are links only.
_MOST_PREVIEWS = 6_000_000


@dataclass(frozen=True)
class Gallery:
    """Figures and tables as the page's script reads them; links are relative to the page."""

    figures: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        folder: Path,
        figures: Sequence[Saved],
        tables: Sequence[tuple[Table, list[Path]]],
    ) -> Gallery:
        """The gallery of a report in this folder."""
        room = _MOST_PREVIEWS
        shown = []
        for saved in figures:
            room -= len(saved.preview)
            shown.append(
                {
                    "heading": saved.heading,
                    "set": _set(saved.files[0], folder),
                    "files": _links(saved.files, folder),
                    "panels": _links(saved.panels, folder),
                    "preview": image_address(saved.preview) if room >= 0 else None,
                }
            )
        return cls(shown, [_table(table, paths, folder) for table, paths in tables])


def _table(table: Table, paths: list[Path], folder: Path) -> dict[str, Any]:
    rows = [[*row.texts, *(_cell(cell) for cell in row.cells)] for row in table.rows]
    return {
        "caption": table.caption,
        "set": _set(paths[0], folder),
        "files": _links(paths, folder),
        "head": table.head,
        "data": len(table.by),
        "rows": rows,
    }


def _cell(cell: Any) -> list[Any] | None:
    """Text and rank of a cell of a table."""
    return None if cell is None else [cell.text, cell.rank]


def _set(path: Path, folder: Path) -> str:
    """The sweep that a file belongs to: its folder below `figures` or `tables`."""
    return "/".join(path.relative_to(folder).parts[1:-1])


def _links(paths: Sequence[Path], folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in paths]
