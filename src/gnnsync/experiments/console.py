"""What a job prints: a line or its config at the start, a table of results at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from gnnsync.results.rows import summary

# Rows of the result table beside the method, and the column each is the mean of.
_REFERENCES = {
    "features": "mse_features",
    "trivial": "mse_trivial",
    "limit: oracle": "limit_oracle",
    "limit: certifiable": "limit_certifiable",
}
_COLUMNS = {
    "mse": "MSE",
    "geodesic_mse": "geodesic",
    "ane": "ANE",
    "upset": "upset",
    "steps": "steps",
    "seconds_train": "seconds",
}


def print_start(
    config: dict[str, Any], variant: str, about: Mapping[str, Any], directory: Path
) -> None:
    """Print method, data and folder in a line; with `print_config=true` the whole config as well.

    Args:
        config: resolved; without loggers, which may hold a key of a tracking service.
        variant: the method and what differs from its default config.
        about: description of the data, as in result rows.
        directory: the job's folder.
    """
    if config.get("print_config"):
        tree = Tree("config", guide_style="dim")
        for key, value in config.items():
            _grow(tree, key, value)
        Console().print(tree, highlight=False)
    cell = (f"{key}={about[key]}" for key in ("p", "eta", "k") if key in about)
    data = " ".join([str(about.get("graph", "data")), *cell])
    line = f"{variant} on {data}; results go to {directory}"
    Console(soft_wrap=True).print(line, highlight=False, markup=False)


def print_results(rows: list[dict[str, Any]], method: str, directory: Path) -> None:
    """Mean ± standard deviation over the replicas, the method beside its features and Trivial."""
    table = Table(title=f"mean ± standard deviation, replicas: {len(rows)}")
    table.add_column("", no_wrap=True)
    columns = [name for name in _COLUMNS if summary(rows, name) is not None]
    for name in columns:
        table.add_column(_COLUMNS[name], justify="right", no_wrap=True)
    table.add_row(method, *[_cell(summary(rows, name), name) for name in columns])
    for label, column in _REFERENCES.items():
        value = summary(rows, column)
        if value is not None and method != label:
            table.add_row(label, *[_cell(value, name) if name == "mse" else "" for name in columns])
    console = Console()
    console.print(table)
    console.print(f"{_statuses(rows)}; written to {directory}", highlight=False, markup=False)


def print_line(rows: list[dict[str, Any]], overrides: list[str]) -> None:
    """One finished job of a sweep in a line."""
    shown = [
        f"{_COLUMNS[name]} {_cell(value, name)}"
        for name in ("mse", "ane", "upset", "seconds_train")
        if (value := summary(rows, name)) is not None
    ]
    line = f"done: {' '.join(overrides)}: {', '.join(shown)}; {_statuses(rows)}"
    Console(soft_wrap=True).print(line, highlight=False, markup=False)


def _statuses(rows: list[dict[str, Any]]) -> str:
    statuses = sorted({str(row["status"]) for row in rows})
    return ", ".join(f"{sum(r['status'] == s for r in rows)} {s}" for s in statuses)


def _cell(value: tuple[float, float] | None, name: str) -> str:
    if value is None:
        return ""
    mean, deviation = value
    if name in ("mse", "ane"):
        return f"{mean:.3g} ± {deviation:.2g}"
    # Whole numbers from 100 on: three digits would show 2950 steps as 2.95e+03.
    return f"{mean:,.0f}" if abs(mean) >= 100 else f"{mean:.3g}"


def _grow(tree: Tree, key: str, value: Any) -> None:
    if isinstance(value, dict):
        branch = tree.add(str(key))
        for name, child in value.items():
            _grow(branch, name, child)
    else:
        tree.add(f"{key}: {value}".replace("[", r"\["))
