"""The task of `gnnsync run`: one job, alone or in a sweep. Launchers import it by name."""

from __future__ import annotations

import logging
import sys
import warnings

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from gnnsync.errors import GnnsyncError
from gnnsync.experiments.exit_codes import BAD_INPUT

log = logging.getLogger(__name__)

# What a job returns if another sweep is running it.
HELD = "held"

# `conf/hydra/launcher/` changes defaults of launchers under their own names, which Hydra reports at
# every composition; workers, which compose as well, import this module.
warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/\w+' is validated against")


def task(cfg: DictConfig) -> float | str | None:
    """Run one job; returns its mean MSE, which a hyper-parameter search minimises.

    In a sweep a job that fails leaves `failure.json` and returns None. Alone it ends the process
    with one line and exit code 2 if the config or the data are at fault.
    """
    if HydraConfig.get().mode == RunMode.MULTIRUN:
        return _sweep_task(cfg)
    if "grid" in cfg:
        print("gnnsync: this preset is a sweep, which -m runs; running one job", file=sys.stderr)
    try:
        return _run(cfg)
    except GnnsyncError as error:
        # Hydra frames exceptions of a task with lines of its own, but not this one.
        print(f"gnnsync: {error}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None


def _sweep_task(cfg: DictConfig) -> float | str | None:
    # Loads NumPy and more, which workers do after they have set their number of threads.
    from gnnsync.experiments.hashing import job_folder
    from gnnsync.experiments.job import write_failure
    from gnnsync.results.files import reproducing
    from gnnsync.results.locks import claim

    try:
        with claim(job_folder(cfg)) as free:
            return _run(cfg, in_sweep=True) if free else HELD
    except Exception as error:
        overrides = reproducing(list(HydraConfig.get().overrides.task))
        # An error that the user can correct needs no traceback.
        bug = not isinstance(error, GnnsyncError)
        log.error("job failed: %s: %s", " ".join(overrides), error, exc_info=bug)
        write_failure(cfg, overrides, error)
        return None


def _run(cfg: DictConfig, *, in_sweep: bool = False) -> float | None:
    # Loads the numerical libraries, as above.
    from gnnsync.experiments.job import run_job
    from gnnsync.results.rows import summary

    mse = summary(run_job(cfg, in_sweep=in_sweep), "mse")
    return None if mse is None else mse[0]
