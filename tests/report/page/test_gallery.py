from __future__ import annotations

import base64

from gnnsync.report.figures import Saved
from gnnsync.report.page import gallery
from gnnsync.report.page.gallery import Gallery
from gnnsync.report.tables import save_table, tables
from gnnsync.results.collect import collect


def saved(folder, name, preview=b"picture") -> Saved:
    inside = folder / "figures" / "study"
    return Saved(name, [inside / f"{name}.png"], [inside / "panels" / name / "a.pdf"], preview)


def test_links_are_relative_to_the_page(tmp_path):
    found = Gallery.of(tmp_path, [saved(tmp_path, "mse")], [])
    (entry,) = found.figures
    assert entry["set"] == "study"
    assert entry["files"] == ["figures/study/mse.png"]
    assert entry["panels"] == ["figures/study/panels/mse/a.pdf"]
    kind, _, text = entry["preview"].partition(",")
    assert (kind, base64.b64decode(text)) == ("data:image/png;base64", b"picture")


def test_previews_beyond_the_room_are_links_only(tmp_path):
    large = b"x" * (gallery._MOST_PREVIEWS // 2)
    figures = [saved(tmp_path, str(i), large) for i in range(3)]
    found = Gallery.of(tmp_path, figures, [])
    assert [entry["preview"] is None for entry in found.figures] == [False, False, True]


def test_tables_hold_text_and_rank(results, tmp_path):
    results(method="gpm", mse=[0.1, 0.1])
    results(method="spectral", mse=[0.2, 0.2])
    (table,) = tables(collect([tmp_path]).rows)
    (tmp_path / "tables").mkdir()
    found = Gallery.of(tmp_path, [], [(table, save_table(table, tmp_path / "tables"))])
    (entry,) = found.tables
    assert (entry["set"], entry["data"]) == ("", 1)
    assert entry["head"] == ["η", "Spectral", "GPM"]
    assert entry["rows"] == [["0.4", ["0.200 ± 0.000", 2], ["0.100 ± 0.000", 1]]]
    assert entry["files"] == [f"tables/{table.name}.{end}" for end in ("md", "csv", "tex")]
