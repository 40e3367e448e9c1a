"""One job: from a config to `result.json`."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import DictConfig, OmegaConf

from gnnsync.data.base import Networks
from gnnsync.data.maps import Reconstruction
from gnnsync.errors import ConfigError, GnnsyncError
from gnnsync.experiments.config.building import Settings, build
from gnnsync.experiments.config.devices import check_gpu_here
from gnnsync.experiments.job import console
from gnnsync.experiments.job.hashing import job_folder, job_hash, job_name, resolved
from gnnsync.experiments.job.label import label_of
from gnnsync.experiments.job.output import also_logged
from gnnsync.experiments.job.profile import profiled
from gnnsync.experiments.job.replicas import solve_replicas
from gnnsync.experiments.tracking.loggers import log_results, opened_loggers
from gnnsync.experiments.tracking.secrets import Secrets
from gnnsync.io.files import atomic_output, writable_directory, write_text
from gnnsync.methods.base import Method, ReplicaMethod
from gnnsync.results.files import (
    CONFIG,
    FAILURE,
    RESULT,
    SOLUTIONS,
    mark_latest,
    read_result,
    reproducing,
)
from gnnsync.results.locks import claim, holder
from gnnsync.results.names import variant_name
from gnnsync.results.outcome import Label, Outcome
from gnnsync.results.rows import final_metrics, result_rows, versions

# Endings of files that hold work which would have to be done again.
_WORK = (".ckpt", ".npz", ".safetensors")

__all__ = ["run_job", "run_sweep_job", "write_failure", "write_result"]


def run_job(cfg: DictConfig) -> list[dict[str, Any]]:
    """Run the job of a composed config, print what it does, and return its rows.

    Everything is written in `output_dir/sweep/WORDS-HASH`; `result.json` is written last and in
    one step, so that a folder with one is a finished job. With `resume=true` such a job is not run
    again. A job whose data or config are refused leaves no folder.
    """
    job = _Job.of(cfg)
    if job.settings.resume and (finished := read_result(job.directory, job.digest)) is not None:
        print(f"this job is finished, nothing to resume: {job.directory}")
        return list(finished["rows"])
    above = (job.directory, job.settings.folder, job.settings.output_dir)
    new = [folder for folder in above if not folder.exists()]
    writable_directory(job.settings.folder)
    with _alone(job.directory):
        try:
            with also_logged(job.directory, Secrets.of(cfg)):
                variant = job.label.variant
                console.print_start(job.config, variant, job.data.describe(), job.directory)
                rows, figures = job.compute()
                console.print_results(rows, job.directory, figures)
                return rows
        except GnnsyncError:
            _remove_refused(new)
            raise
        except Exception as error:
            write_failure(cfg, job.label.overrides or [], error)
            raise


def run_sweep_job(cfg: DictConfig) -> list[dict[str, Any]]:
    """Run a job of a sweep, which has locked its folder and directs its output."""
    job = _Job.of(cfg)
    rows, _ = job.compute()
    console.print_line(rows, job.label.overrides or [job.label.variant])
    return rows


def _remove_refused(new: list[Path]) -> None:
    """Remove the new folders of a job that was refused, the job's own first, if it did no work."""
    if not new or any(path.suffix in _WORK for path in new[0].rglob("*")):
        return
    shutil.rmtree(new[0], ignore_errors=True)
    with suppress(OSError):  # another job is there by now
        for folder in new[1:]:
            folder.rmdir()


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    with claim(directory) as free:
        if not free:
            raise ConfigError(
                f"{directory}: {holder(directory)} is running this job: wait for it, or stop it"
            )
        yield


@dataclass(frozen=True)
class _Job:
    """A composed config, and what was built from it."""

    cfg: DictConfig
    config: dict[str, Any]
    digest: str
    settings: Settings
    data: Networks
    method: Method
    label: Label
    start: float
    processor_start: float

    @classmethod
    def of(cls, cfg: DictConfig) -> _Job:
        """Build what the config names; nothing is written."""
        start, processor_start = time.perf_counter(), time.process_time()
        check_gpu_here(cfg)
        settings, data, method = build(cfg)
        config, digest = resolved(cfg), job_hash(cfg)
        del config["logger"]  # may hold a key of a tracking service
        label = label_of(cfg)
        return cls(cfg, config, digest, settings, data, method, label, start, processor_start)

    @property
    def directory(self) -> Path:
        """The job's folder."""
        return self.settings.folder / job_name(self.config, self.digest)

    @property
    def is_profiled(self) -> bool:
        """Whether a profile is asked for, of a method that Lightning's profiler does not see."""
        wanted = OmegaConf.select(self.cfg, "trainer.profiler") is not None
        return wanted and not isinstance(self.method, ReplicaMethod)

    def compute(self) -> tuple[list[dict[str, Any]], list[Path]]:
        """Solve all replicas and write everything into the job's folder; rows and figures."""
        settings, data, label = self.settings, self.data, self.label
        directory = writable_directory(self.directory)
        about = {**self.config, "job": _about(label, data, self.digest, settings.sweep)}
        with opened_loggers(self.cfg, directory, self.method, about) as loggers:
            write_text(directory / CONFIG, OmegaConf.to_yaml(OmegaConf.create(self.config)))
            with profiled(directory) if self.is_profiled else nullcontext():
                outcome = solve_replicas(self.method, data, settings, directory, loggers)
            found = [data.reconstruct(each.network, each.solution) for each in outcome.replicas]
            rows = result_rows(
                outcome,
                data,
                found,
                job_hash=self.digest,
                sweep=settings.sweep,
                label=label,
                either_sign=settings.either_sign,
            )
            _write_solutions(outcome, found[0], directory)
            figures = _draw(outcome, data, found[0], directory, label) if settings.figures else {}
            log_results(loggers, final_metrics(rows), rows, figures)
            seconds = {
                "seconds": time.perf_counter() - self.start,
                "processor_seconds": time.process_time() - self.processor_start,
            }
            write_result(directory, self.config, rows, seconds, label.overrides)
            (directory / FAILURE).unlink(missing_ok=True)
            mark_latest(directory)
        return rows, list(figures.values())


def write_result(
    directory: Path,
    config: dict[str, Any],
    rows: list[dict[str, Any]],
    seconds: dict[str, float],
    overrides: list[str] | None = None,
) -> None:
    """Write `result.json`, whole or not at all; `overrides` run the job again.

    `seconds` has those of the clock (`seconds`) and of the processor (`processor_seconds`).
    """
    content = {
        "job_hash": rows[0]["job_hash"],
        "status": "success",
        **seconds,
        "overrides": overrides,
        "versions": versions(),
        "rows": rows,
        "config": config,
    }
    write_text(directory / RESULT, json.dumps(content, indent=1, allow_nan=False))


def write_failure(cfg: DictConfig, overrides: list[str], error: BaseException) -> None:
    """Note why a job of a sweep failed, for `report` and the next start of the sweep."""
    directory = writable_directory(job_folder(cfg))
    text = Secrets.of(cfg).masked(str(error))
    note = {"overrides": reproducing(overrides), "kind": type(error).__name__, "error": text}
    write_text(directory / FAILURE, json.dumps(note, indent=1))


def _write_solutions(outcome: Outcome, found: Reconstruction | None, directory: Path) -> None:
    """All angles and losses, and what the data make of the first replica's, such as a map."""
    arrays: dict[str, Any] = {
        "angles": np.stack([replica.solution.angles for replica in outcome.replicas]),
        "network_seed": np.array([replica.network_seed for replica in outcome.replicas]),
        "trial": np.array([replica.trial for replica in outcome.replicas]),
        **{f"loss_{name}": losses for name, losses in outcome.history.items()},
    }
    if found is not None:
        arrays |= found.arrays()
    with atomic_output(directory / SOLUTIONS, "wb") as handle:
        np.savez_compressed(handle, **arrays)


def _draw(
    outcome: Outcome, data: Networks, found: Reconstruction | None, directory: Path, label: Label
) -> dict[str, Path]:
    # Matplotlib takes half a second to load, and not every job draws.
    from gnnsync.experiments.job.figures import draw_job

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
