"""What a job prints: method, data and folder at the start, results and files at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from gnnsync.results.names import GRAPHS, METHODS, noise_title, variant_name
from gnnsync.results.rows import summary

_COLUMNS = {
    "mse": "MSE",
    "ane": "ANE",
    "rmse_localizable": "RMSE",
    "geodesic_mse": "geodesic",
    "upset": "upset",
}
# Errors of located points that others reach; further ones are those of peers.
_RMSE = {
    "rmse_from_truth": "fit started from the true points",
    "rmse_from_truth_clean": "the same without gross errors",
    "rmse_limit": "limit: Cramér-Rao bound of the points",
}
# Collapsed sets agree by this much more than the true ones, or by this much if those are unknown.
# In the study of docs/reproduction.md nine in ten runs of the paper's network agree by .29 to .84
# more than the truth, and nine in ten of the default network by -.20 to .16.
_COLLAPSE_ABOVE_TRUTH, _COLLAPSE = 0.3, 0.6
# How a run ended, by its status: of a trained network, and of a classical method.
_TRAINED = {
    "stopped": "stopped early after {steps} steps",
    "finished": "trained for all {steps} steps",
    "diverged": "diverged after {steps} steps and kept the best state before",
}
_SOLVED = {"finished": "finished", "not converged": "did not converge"}


def print_start(
    config: dict[str, Any], variant: str, about: Mapping[str, Any], directory: Path
) -> None:
    """Print method, data and folder; with `print_config=true` the whole config as well.

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
    _print(f"method: {variant_name(variant)}")
    _print(f"data:   {_data(config, about)}")
    _print(f"folder: {directory}")


def print_results(
    rows: list[dict[str, Any]], directory: Path, pictures: Sequence[Path] = ()
) -> None:
    """Print what the runs reached beside what they started from and the limits, and the files.

    Args:
        rows: one per run (network and trial).
        directory: the job's folder.
        pictures: figures that the job has drawn.
    """
    table = Table(box=None, padding=(0, 3, 0, 0), show_edge=False)
    table.add_column("", no_wrap=True)
    columns = [name for name in _COLUMNS if summary(rows, name) is not None]
    if "rmse_localizable" in columns:  # where it is the points that matter
        columns = [name for name in columns if name not in ("geodesic_mse", "upset")]
    for name in columns:
        table.add_column(_COLUMNS[name], justify="right", no_wrap=True)
    for label, column in _lines(rows):
        if column is None:
            values = [_cell(summary(rows, name), name) for name in columns]
            table.add_row(label, *values, style="bold")
        elif (value := summary(rows, column)) is not None:
            own = "rmse_localizable" if column.startswith("rmse_") else "mse"
            table.add_row(label, *[_cell(value, own) if name == own else "" for name in columns])
    _print(f"\nmean ± standard deviation over {_runs(rows)}")
    Console().print(table, highlight=False)
    _print(f"\n{_endings(rows)}")
    for line in _agreement(rows):
        _print(line)
    if pictures:
        names = [str(pictures[0]), *(path.name for path in pictures[1:])]
        _print(f"pictures: {', '.join(names)}")
    _print(f"page of all runs in this folder: gnnsync report {directory.parent}")


def print_line(rows: list[dict[str, Any]], overrides: list[str]) -> None:
    """One finished job of a sweep in a line."""
    shown = [
        f"{title} {_cell(value, name)}"
        for name, title in {**_COLUMNS, "seconds_train": "seconds"}.items()
        if name != "geodesic_mse" and (value := summary(rows, name)) is not None
    ]
    line = f"done: {' '.join(overrides)}: {', '.join(shown)}; {_statuses(rows)}"
    _print(line)


def _data(config: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """The data in words: kind and number of networks, and what identifies them."""
    graph = str(about.get("graph", "data"))
    facts = [f"{key} = {about[key]}" for key in ("n", "p", "k") if about.get(key) is not None]
    if about.get("eta") is not None:
        facts.append(f"{noise_title(outliers='p' in about)} = {about['eta']}")
    if about.get("inlier_noise"):
        facts.append(f"noise of inliers σ = {about['inlier_noise']}")
    seeds = config.get("data", {}).get("seeds")
    networks = f"{_count(len(seeds), 'network')} " if seeds else ""
    return f"{networks}{GRAPHS.get(graph, graph)}{': ' if facts else ''}{', '.join(facts)}"


def _lines(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str | None]]:
    """Lines of the result table and the column each is the mean of; None for the answer itself."""
    method = str(rows[0].get("method", "answer"))
    features = str(rows[0].get("model.features", ""))
    if method != "trivial":
        yield "all angles equal", "mse_trivial"
    yield f"input of the network: {METHODS.get(features, features)}", "mse_features"
    yield "network before training", "mse_untrained"
    yield f"{variant_name(method)}{', trained' if _trained(rows) else ''}", None
    yield "limit: oracle, which knows the inliers", "limit_oracle"
    yield "limit: certifiable", "limit_certifiable"
    for column in rows[0]:
        if column.startswith("rmse_") and column != "rmse_localizable":
            yield _RMSE.get(column, column.removeprefix("rmse_")), column


def _agreement(rows: list[dict[str, Any]]) -> Iterator[str]:
    """For k > 1 how much the sets of angles agree, and a warning if some runs' sets collapsed."""
    found = summary(rows, "set_agreement")
    if found is None:
        return
    truth = summary(rows, "set_agreement_true")
    beside = "" if truth is None else f"; of the true sets: {truth[0]:.2f}"
    yield f"largest agreement of two sets of angles: {found[0]:.2f}{beside}"
    collapsed = sum(map(_has_collapsed, rows))
    if collapsed:
        runs = "the run" if len(rows) == 1 else f"{collapsed} of {len(rows)} runs"
        yield (
            f"warning: sets of angles have collapsed in {runs}: two of them are largely the same, "
            "and the MSE is that of a compromise between the true sets"
        )


def _has_collapsed(row: Mapping[str, Any]) -> bool:
    agreement, truth = row.get("set_agreement"), row.get("set_agreement_true")
    limit = _COLLAPSE if truth is None else truth + _COLLAPSE_ABOVE_TRUTH
    return agreement is not None and agreement > limit


def _endings(rows: list[dict[str, Any]]) -> str:
    """How the runs ended and how long they took: `5 of 5 runs stopped early after 370 steps`."""
    words = _TRAINED if _trained(rows) else _SOLVED
    parts = []
    for status in dict.fromkeys(str(row["status"]) for row in rows):
        own = [row for row in rows if row["status"] == status]
        runs = "the run" if len(rows) == 1 else f"{len(own)} of {len(rows)} runs"
        parts.append(f"{runs} {words.get(status, status).format(steps=_steps(own))}")
    text = "; ".join(parts)
    seconds = summary(rows, "seconds_train")
    return text if seconds is None else f"{text}; {_cell(seconds, 'seconds_train')} s each"


def _steps(rows: list[dict[str, Any]]) -> str:
    steps = sorted(int(row.get("steps") or 0) for row in rows)
    return " to ".join(f"{step:,}" for step in dict.fromkeys((steps[0], steps[-1])))


def _trained(rows: list[dict[str, Any]]) -> bool:
    return any(row.get("mse_untrained") is not None for row in rows)


def _runs(rows: list[dict[str, Any]]) -> str:
    networks, trials = ({row.get(key) for row in rows} for key in ("network_seed", "trial"))
    each = f" × {len(trials)} trials" if len(trials) > 1 else ""
    return f"{_count(len(networks), 'network')}{each}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _statuses(rows: list[dict[str, Any]]) -> str:
    statuses = sorted({str(row["status"]) for row in rows})
    return ", ".join(f"{sum(r['status'] == s for r in rows)} {s}" for s in statuses)


def _cell(value: tuple[float, float] | None, name: str) -> str:
    if value is None:
        return ""
    mean, deviation = value
    if name in ("mse", "ane", "rmse_localizable"):
        return f"{mean:.3g} ± {deviation:.2g}"
    # Whole numbers from 100 on: three digits would show 2950 steps as 2.95e+03.
    return f"{mean:,.0f}" if abs(mean) >= 100 else f"{mean:.3g}"


def _print(text: str) -> None:
    Console(soft_wrap=True).print(text, highlight=False, markup=False)


def _grow(tree: Tree, key: str, value: Any) -> None:
    if isinstance(value, dict):
        branch = tree.add(str(key))
        for name, child in value.items():
            _grow(branch, name, child)
    else:
        tree.add(f"{key}: {value}".replace("[", r"\["))
