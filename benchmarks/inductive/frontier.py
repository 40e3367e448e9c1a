"""Table and picture of `experiment=inductive/frontier`: error and time of every method.

    gnnsync run -m experiment=inductive/frontier,inductive/unseen,inductive/irls
    python -m benchmarks.inductive.frontier outputs/inductive/frontier

prints the table. `--picture FILE` draws error against time. `--pages FILE...` renews Markdown files
between pairs of comments: the table after `<!-- frontier -->`, its means after
`<!-- frontier means -->`, the picture after `<!-- picture -->`, each up to `<!-- end of ... -->`.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.inductive.pages import renew
from gnnsync.io.figure_file import write_figure
from gnnsync.report.naming import GRAPHS, PRIORS
from gnnsync.report.styles import styles
from gnnsync.results.files import read_result

NAME, KIND, MILLISECONDS = "cell", "kind", "milliseconds"
# What the label of GNNSync with the parts of the paper begins with.
_HEAD = "steps=projected_gradient optimizer=sgd"
# The variants in the order of the columns, with their titles.
TITLES = {
    "gnnsync_inductive polish=false": "inductive, no polish",
    "gnnsync_inductive": "inductive",
    "auto": "auto",
    "belief": "belief",
    "gnnsync_plus": "GNNSync-plus",
    f"gnnsync {_HEAD} correction=null separation=0": "GNNSync, scaled",
    f"gnnsync {_HEAD} norm=frobenius correction=null separation=0 spread=null": "GNNSync, literal",
    "irls": "IRLS",
    "spectral_rn": "Spectral_RN",
}
KINDS = ("exact inliers", "noisy inliers", "unseen graphs and laws", "k > 1")
LIMIT = "limit_oracle"
# Methods that train on every graph: what they do before the first step counts as well.
_TRAINED = ("gnnsync", "gnnsync_plus")
_LABEL_SIZE, _MARKER_SIZE, _DPI = 8, 7, 150
_ALT = "Mean squared error against time per graph: one point per method, one panel per kind of cell"
_INDUCTIVE, _STAR = "gnnsync_inductive", "black"
# Smaller mean errors are drawn at this one.
_LEAST = 1e-3


def main() -> None:
    options = _options()
    rows = read_rows(options.folder)
    print(table(rows))
    if options.picture:
        write_figure(picture(rows), options.picture, dpi=_DPI)
    for path in options.pages:
        texts = {"frontier": table(rows), "frontier means": table(rows, cells=False)}
        if options.picture:
            link = Path(os.path.relpath(options.picture, path.parent)).as_posix()
            texts["picture"] = f"![{_ALT}]({link})"
        renew(path, texts)


def read_rows(folder: Path) -> pd.DataFrame:
    """The rows of all jobs of a sweep, with columns for cell, kind of cell and milliseconds."""
    found = [read_result(path.parent) for path in sorted(folder.rglob("result.json"))]
    rows = pd.DataFrame([row for result in found if result for row in result["rows"]])
    if rows.empty:
        raise SystemExit(f"{folder}: no finished jobs; run experiment=inductive/frontier first")
    setup = np.where(rows["method"].isin(_TRAINED), rows["seconds_setup"], 0.0)
    return rows.assign(
        **{
            NAME: [_name(row) for row in rows.to_dict("records")],
            KIND: [_kind(row) for row in rows.to_dict("records")],
            MILLISECONDS: 1e3 * (rows["seconds_train"] + setup),
        }
    )


def table(rows: pd.DataFrame, *, cells: bool = True) -> str:
    """Mean MSE and milliseconds per graph: a row per cell and one per kind, a column per method.

    Without `cells`, only the rows of the kinds.
    """
    columns = [name for name in TITLES if (rows["variant"] == name).any()]
    head = ["cell", *(TITLES[name] for name in columns), "limit: oracle"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for kind in KINDS:
        own = rows[rows[KIND] == kind]
        if own.empty:
            continue
        if cells:
            lines += [_line(str(name), c, columns) for name, c in own.groupby(NAME, sort=False)]
        lines.append(_line(f"*{kind}: mean*" if cells else kind, own, columns))
    return "\n".join(lines)


def picture(rows: pd.DataFrame) -> Figure:
    """Mean MSE against mean time per graph: a panel per kind of cell, a point per method."""
    kinds = [kind for kind in KINDS if (rows[KIND] == kind).any()]
    figure = Figure(figsize=(2.9 * len(kinds) + 0.4, 3.9), layout="constrained")
    grid = figure.subplots(1, len(kinds), squeeze=False, sharex=True, sharey=True)[0]
    looks = _looks(rows)
    for axes, kind in zip(grid, kinds, strict=True):
        own = rows[rows[KIND] == kind]
        means = own.groupby("variant")[[MILLISECONDS, "mse"]].mean()
        for name in (name for name in looks if name in means.index):
            time, error = means.loc[name]
            axes.loglog(time, max(error, _LEAST), linestyle="none", **looks[name])
        axes.set_title(f"{kind} ({own[NAME].nunique()} cells)", fontsize=9)
        axes.set_xlabel("milliseconds per graph", fontsize=_LABEL_SIZE)
        axes.grid(color="0.92", linewidth=0.6)
        axes.tick_params(which="both", labelsize=_LABEL_SIZE)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
    grid[0].set_ylabel("mean MSE", fontsize=_LABEL_SIZE)
    handles = [Line2D([], [], linestyle="none", **look) for look in looks.values()]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), 5),
        fontsize=_LABEL_SIZE,
        frameon=False,
    )
    return figure


def _looks(rows: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Marker and colour of each variant; the inductive network is a star."""
    present = [name for name in TITLES if (rows["variant"] == name).any()]
    inductive = {name for name in present if name.startswith(_INDUCTIVE)}
    house = styles([name for name in present if name not in inductive])
    looks: dict[str, dict[str, Any]] = {
        name: {"marker": look.marker, "color": look.colour, "markersize": _MARKER_SIZE}
        for name, look in house.items()
    }
    for name in inductive:
        face = "white" if "polish=false" in name else _STAR
        looks[name] = {"marker": "*", "color": _STAR, "markerfacecolor": face, "markersize": 14}
    return {name: {**looks[name], "label": TITLES[name]} for name in present}


def _line(name: str, rows: pd.DataFrame, columns: list[str]) -> str:
    means = rows.groupby("variant")[["mse", MILLISECONDS]].mean()
    entries = [
        f"{means.loc[c, 'mse']:.4f}, {means.loc[c, MILLISECONDS]:.0f} ms"
        if c in means.index
        else "–"
        for c in columns
    ]
    limit = rows.drop_duplicates([NAME, "network_seed"])[LIMIT].mean()
    return "| " + " | ".join([name, *entries, f"{limit:.4f}"]) + " |"


def _name(row: dict) -> str:
    """What the table calls a cell."""
    if isinstance(row.get("data.cell"), str):
        return row["data.cell"]
    parts = [GRAPHS[row["data.graph"]]]
    if row["data.n"] != 360:
        parts.append(f"n={row['data.n']:g}")
    parts += [f"p={row['data.p']:g}", f"η={row['data.eta']:g}"]
    if row["data.inlier_noise"]:
        parts.append(f"σ={row['data.inlier_noise']:g}")
    if row["data.k"] > 1:
        parts.append(f"k={row['data.k']:g}")
    if row["data.angles"] != "GammaAngles":
        parts.append(PRIORS[row["data.angles"]])
    return " ".join(parts)


def _kind(row: dict) -> str:
    exact, noisy, unseen, several = KINDS
    if row["data.k"] > 1:
        return several
    if row["data.graph"] == "test":
        return noisy if row.get("data.outliers") != "uniform" else unseen
    return noisy if row["data.inlier_noise"] else exact


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of the sweep")
    parser.add_argument("--pages", type=Path, nargs="*", default=[], help="Markdown files to renew")
    parser.add_argument("--picture", type=Path, help="image file to draw")
    return parser.parse_args()


if __name__ == "__main__":
    main()
