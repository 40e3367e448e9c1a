"""One job: from a config to `result.json`."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from gnnsync.data.base import Networks
from gnnsync.data.maps import Map
from gnnsync.experiments import console
from gnnsync.experiments.config import build
from gnnsync.experiments.hashing import job_folder, job_hash, job_name, resolved
from gnnsync.experiments.label import label_of
from gnnsync.experiments.loggers import log_results, opened_loggers
from gnnsync.experiments.replicas import solve_replicas
from gnnsync.io.files import atomic_output, writable_directory, write_text
from gnnsync.results.files import FAILURE, RESULT, mark_latest, read_result, reproducing
from gnnsync.results.names import variant_name
from gnnsync.results.outcome import Label, Outcome
from gnnsync.results.rows import final_metrics, result_rows, versions

log = logging.getLogger(__name__)

__all__ = ["FAILURE", "RESULT", "read_result", "run_job", "write_failure", "write_result"]


def run_job(cfg: DictConfig, *, in_sweep: bool = False) -> list[dict[str, Any]]:
    """Run the job of a composed config and return its rows.

    Everything is written in `output_dir/sweep/WORDS-HASH`; `result.json` is written last and in
    one step, so that a folder with one is a finished job. In a sweep such a job is not run again.
    """
    start = time.perf_counter()
    settings, data, method = build(cfg)
    config, digest = resolved(cfg), job_hash(cfg)
    del config["logger"]  # may hold a key of a tracking service
    directory = writable_directory(settings.folder / job_name(config, digest))
    if in_sweep and (finished := read_result(directory, digest)) is not None:
        log.info("job %s is done already: %s", digest, directory)
        return list(finished["rows"])
    label = label_of(cfg)
    about = {**config, "job": _about(label, data, digest, settings.sweep)}
    with (
        _log_file(directory / "job.log"),
        opened_loggers(cfg, directory, method, about) as loggers,
    ):
        if not in_sweep:
            console.print_start(config, label.variant, data.describe(), directory)
        write_text(directory / "config.yaml", OmegaConf.to_yaml(OmegaConf.create(config)))
        outcome = solve_replicas(method, data, settings, directory, loggers)
        rows = result_rows(outcome, data, job_hash=digest, sweep=settings.sweep, label=label)
        first = outcome.replicas[0]
        found = data.reconstruct(first.network, first.solution)
        _write_solutions(outcome, found, directory)
        figures = _draw(outcome, data, found, directory, label) if settings.figures else {}
        log_results(loggers, final_metrics(rows), rows, figures)
        write_result(directory, config, rows, time.perf_counter() - start, label.overrides)
        (directory / FAILURE).unlink(missing_ok=True)
        mark_latest(directory)
        if in_sweep:
            console.print_line(rows, label.overrides or [label.variant])
        else:
            console.print_results(rows, directory, list(figures.values()))
    return rows


def write_result(
    directory: Path,
    config: dict[str, Any],
    rows: list[dict[str, Any]],
    seconds: float,
    overrides: list[str] | None = None,
) -> None:
    """Write `result.json`, whole or not at all; `overrides` run the job again."""
    content = {
        "job_hash": rows[0]["job_hash"],
        "status": "success",
        "seconds": seconds,
        "overrides": overrides,
        "versions": versions(),
        "rows": rows,
        "config": config,
    }
    write_text(directory / RESULT, json.dumps(content, indent=1, allow_nan=False))


def write_failure(cfg: DictConfig, overrides: list[str], error: BaseException) -> None:
    """Note why a job of a sweep failed, for `report` and the next start of the sweep."""
    directory = writable_directory(job_folder(cfg))
    note = {"overrides": reproducing(overrides), "kind": type(error).__name__, "error": str(error)}
    write_text(directory / FAILURE, json.dumps(note, indent=1))


def _write_solutions(outcome: Outcome, found: Map | None, directory: Path) -> None:
    """All angles and losses, and the first replica's map on data that have one."""
    arrays: dict[str, Any] = {
        "angles": np.stack([replica.solution.angles for replica in outcome.replicas]),
        "network_seed": np.array([replica.network_seed for replica in outcome.replicas]),
        "trial": np.array([replica.trial for replica in outcome.replicas]),
        **{f"loss_{name}": losses for name, losses in outcome.history.items()},
    }
    if found is not None:
        arrays |= {"points": found.points, "recovered": found.recovered}
    with atomic_output(directory / "solutions.npz", "wb") as handle:
        np.savez_compressed(handle, **arrays)


def _draw(
    outcome: Outcome, data: Networks, found: Map | None, directory: Path, label: Label
) -> dict[str, Path]:
    # Matplotlib takes half a second to load, and not every job draws.
    from gnnsync.experiments.figures import draw_job

    return draw_job(outcome, data, found, directory, variant_name(label.method))


def _about(label: Label, data: Networks, digest: str, sweep: str) -> dict[str, Any]:
    """What loggers show of a job: variant and data in its name, the choices as tags."""
    about = data.describe()
    kind = [str(about[key]) for key in ("graph", "angles") if key in about]
    cell = [f"{key}={about[key]}" for key in ("p", "eta", "k") if key in about]
    parts = [str(v) for k, v in label.columns.items() if k in ("loss", "model.encoder")]
    return {
        "hash": digest,
        "name": ", ".join([label.variant, *kind[:1], *cell]),
        "group": sweep,
        "method": label.method,
        "tags": [label.method, *parts, *kind, *cell[-1:]],
    }


@contextmanager
def _log_file(path: Path) -> Iterator[None]:
    handler = logging.FileHandler(path, mode="w")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
