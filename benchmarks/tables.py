"""The rows of sweeps as one Markdown table: `python -m benchmarks.tables FOLDER... --help`."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from gnnsync.results.files import read_result

DATA = {
    "data.graph": "{}",
    "data.k": "k={:g}",
    "data.p": "p={:g}",
    "data.eta": "η={:g}",
    "data.inlier_noise": "σ={:g}",
}
LIMITS = ["limit_oracle", "limit_certifiable"]


def main() -> None:
    options = _options()
    rows = pd.DataFrame(
        row
        for folder in options.folders
        for path in sorted(folder.rglob("result.json"))
        for row in (read_result(path.parent) or {"rows": []})["rows"]
    )
    keys = [key for key in DATA if key in rows]
    columns = dict.fromkeys(
        [*options.columns.split(","), *rows["variant"]] if options.columns else rows["variant"]
    )
    columns = [name for name in columns if (rows["variant"] == name).any()]
    limits = [name for name in LIMITS if name in rows]
    print(
        "| cell | " + " | ".join([*columns, *(name.replace("_", ": ") for name in limits)]) + " |"
    )
    print("|---" * (1 + len(columns) + len(limits)) + "|")
    for values, cell in rows.groupby(keys, dropna=False, sort=False):
        name = " ".join(DATA[k].format(v) for k, v in zip(keys, values, strict=True) if pd.notna(v))
        entries = [_entry(cell.loc[cell["variant"] == column, "mse"]) for column in columns]
        networks = cell.drop_duplicates("network_seed")
        print(
            f"| {name} | " + " | ".join([*entries, *(_entry(networks[x]) for x in limits)]) + " |"
        )


def _entry(values: pd.Series) -> str:
    values = values.dropna()
    if values.empty:
        return "–"
    return f"{values.mean():.4f} ± {values.std(ddof=0):.4f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folders of sweeps")
    parser.add_argument("--columns", default="", help="methods in this order, then all others")
    return parser.parse_args()


if __name__ == "__main__":
    main()
