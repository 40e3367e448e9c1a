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
import torch
from omegaconf import DictConfig, OmegaConf

from gnnsync.data.base import SyncDataModule
from gnnsync.experiments import console
from gnnsync.experiments.identity import identify, reproducing
from gnnsync.experiments.outcome import Outcome, solve_replicas
from gnnsync.experiments.paths import writable_directory
from gnnsync.experiments.rows import result_rows, summary, versions
from gnnsync.experiments.settings import Settings, build, job_hash, resolved
from gnnsync.experiments.tracking import LossLogger, finish_logger, make_logger
from gnnsync.io.source import atomic_output

log = logging.getLogger(__name__)

RESULT = "result.json"
FAILURE = "failure.json"


def run_job(cfg: DictConfig, *, in_sweep: bool = False) -> list[dict[str, Any]]:
    """Run the job of a composed config and return its rows.

    Everything is written in `output_dir/sweep/job_hash`; `result.json` comes last and at once, so
    that a folder with one is a finished job. In a sweep such a job is not run again.
    """
    start = time.perf_counter()
    settings, data, method = build(cfg)
    config, digest = resolved(cfg), job_hash(cfg)
    directory = writable_directory(settings.folder / digest)
    if in_sweep and (finished := read_result(directory)) is not None:
        log.info("job %s is done already: %s", digest, directory)
        return list(finished["rows"])
    identity = identify(cfg)
    torch.set_num_threads(settings.threads)
    with _log_file(directory / "job.log"):
        if not in_sweep:
            console.print_config(config, digest)
        _write_text(directory / "config.yaml", OmegaConf.to_yaml(OmegaConf.create(config)))
        logger = make_logger(cfg, directory)
        callbacks = [LossLogger(logger)] if logger is not None else []
        outcome = solve_replicas(method, data, settings, directory, callbacks)
        rows = result_rows(outcome, data, job_hash=digest, sweep=settings.sweep, identity=identity)
        _write_solutions(outcome, data, directory)
        if settings.figures:
            _draw(outcome, data, directory, identity.method)
        if logger is not None:
            means = {key: summary(rows, key) for key in ("mse", "mse_features", "upset", "ane")}
            finish_logger(logger, config, {k: v[0] for k, v in means.items() if v is not None})
        write_result(directory, config, rows, time.perf_counter() - start, identity.overrides)
        (directory / FAILURE).unlink(missing_ok=True)
        console.print_results(rows, identity.method, directory)
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
    _write_text(directory / RESULT, json.dumps(content, indent=1, allow_nan=False))


def write_failure(cfg: DictConfig, overrides: list[str], error: BaseException) -> None:
    """Leave a note of why a job of a sweep failed, for whoever started the sweep."""
    directory = writable_directory(Settings.of(cfg).folder / job_hash(cfg))
    note = {"overrides": reproducing(overrides), "kind": type(error).__name__, "error": str(error)}
    _write_text(directory / FAILURE, json.dumps(note, indent=1))


def read_result(directory: Path) -> dict[str, Any] | None:
    """The result in a job's folder; None if it is missing, broken or not a success."""
    try:
        content = json.loads((directory / RESULT).read_text())
        return content if content["status"] == "success" and content["rows"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_text(path: Path, text: str) -> None:
    with atomic_output(path, "wb") as handle:
        handle.write(text.encode())  # type: ignore[arg-type]


def _write_solutions(outcome: Outcome, data: SyncDataModule, directory: Path) -> None:
    """All angles and losses, and what the first replica's angles mean on these data."""
    first = outcome.replicas[0]
    arrays: dict[str, Any] = {
        "angles": np.stack([replica.solution.angles for replica in outcome.replicas]),
        "network_seed": np.array([replica.network_seed for replica in outcome.replicas]),
        "trial": np.array([replica.trial for replica in outcome.replicas]),
        **{f"loss_{name}": losses for name, losses in outcome.history.items()},
        **data.extra_arrays(first.network, first.solution),
    }
    with atomic_output(directory / "solutions.npz", "wb") as handle:
        np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


def _draw(outcome: Outcome, data: SyncDataModule, directory: Path, name: str) -> None:
    from gnnsync.report.run_figures import angle_figure, loss_figure

    figures = {}
    if outcome.history and len(outcome.history["train"]):
        figures["loss"] = loss_figure(outcome.history)
    first = outcome.replicas[0]
    truth = data.graphs[first.network].angles
    if truth is not None:
        figures["angles"] = angle_figure(first.solution.angles, truth, first.features, name)
    figures.update(data.figures(first.network, first.solution))
    for title, figure in figures.items():
        with atomic_output(directory / f"{title}.png", "wb") as handle:
            figure.savefig(handle, format="png", dpi=150)


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
