"""The task of `gnnsync run`: one job, alone or in a sweep. Launchers import it by name."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from gnnsync.errors import GnnsyncError, first_line
from gnnsync.experiments.exit_codes import BAD_INPUT, FAILED
from gnnsync.experiments.tracking.secrets import Secrets

log = logging.getLogger(__name__)

# What a job returns if another sweep is running it.
HELD = "held"
# Seconds between two looks at such a job.
_PAUSE = 1.0

# `conf/hydra/launcher/` changes defaults of launchers under their own names, which Hydra reports at
# every composition; workers, which compose as well, import this module.
warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/\w+' is validated against")


def task(cfg: DictConfig) -> float | str | None:
    """Run one job; returns its mean MSE, which a hyper-parameter search minimises.

    In a sweep a job that fails leaves `failure.json` and returns None. Alone it ends the process
    with one line and exit code 2 if the config or the data are at fault.
    """
    # Loads NumPy and more, which workers do after they have set their number of threads.
    from gnnsync.experiments.job.run import run_job
    from gnnsync.experiments.sweep.presets import refuse_sweep_without_m

    if HydraConfig.get().mode == RunMode.MULTIRUN:
        while (value := _sweep_task(cfg)) == HELD and not _waits_for_others():
            time.sleep(_PAUSE)
        return value
    try:
        refuse_sweep_without_m(cfg)
        return _mean_mse(run_job(cfg))
    except GnnsyncError as error:
        # Hydra frames exceptions of a task with lines of its own, but not this one.
        print(f"gnnsync: {Secrets.of(cfg).masked(str(error))}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None
    except Exception as error:
        if _out_of_memory(error):
            told = "gnnsync: out of memory: fewer nodes, data.seeds or trials need less"
            print(f"{told} ({first_line(error)})", file=sys.stderr)
            raise SystemExit(FAILED) from None
        if (text := Secrets.of(cfg).traceback(error)) is None:
            raise
        print(text, end="", file=sys.stderr)
        raise SystemExit(FAILED) from None


def _waits_for_others() -> bool:
    """Whether the sweeper waits for jobs that other sweeps run; others need a value of each job."""
    return str(HydraConfig.get().sweeper._target_).endswith(".GnnsyncSweeper")


def _sweep_task(cfg: DictConfig) -> float | str | None:
    # Loads the numerical libraries, as above.
    from gnnsync.experiments.job.hashing import job_folder, job_hash
    from gnnsync.experiments.job.output import LOG, only_logged
    from gnnsync.experiments.job.run import run_sweep_job, write_failure
    from gnnsync.results.files import read_result, reproducing
    from gnnsync.results.locks import claim

    folder, digest = job_folder(cfg), job_hash(cfg)
    overrides = reproducing(list(HydraConfig.get().overrides.task))
    secrets = Secrets.of(cfg)
    _mask_config_of_sweep(secrets)
    with claim(folder) as free:
        if not free:
            return HELD
        if (finished := read_result(folder, digest)) is not None:
            log.info("job %s is done already: %s", digest, folder)
            return _mean_mse(finished["rows"])
        try:
            with only_logged(folder, secrets):
                try:
                    return _mean_mse(run_sweep_job(cfg))
                except Exception as error:
                    # An error that the user can correct needs no traceback.
                    bug = not isinstance(error, GnnsyncError)
                    log.error("job failed: %s", error, exc_info=bug)
                    raise
        except Exception as error:
            write_failure(cfg, overrides, error)
            if "gnnsync" not in str(HydraConfig.get().sweeper._target_):
                # Our own sweepers report failures; Hydra's do not.
                reason = secrets.masked(str(error))
                log.error("job failed: %s: %s (%s)", " ".join(overrides), reason, folder / LOG)
            return None


def _mask_config_of_sweep(secrets: Secrets) -> None:
    """Hydra's own sweeper has stored the whole config, loggers included."""
    path = Path(str(HydraConfig.get().sweep.dir)) / "multirun.yaml"
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        if (masked := secrets.masked(text)) != text:
            path.write_text(masked, encoding="utf-8")


def _out_of_memory(error: Exception) -> bool:
    """Whether memory was short: of this machine, or of a GPU. PyTorch raises a RuntimeError."""
    text = str(error)
    short = "out of memory" in text or "can't allocate memory" in text
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and short)


def _mean_mse(rows: list[dict[str, object]]) -> float | None:
    # Loads the numerical libraries, as above.
    from gnnsync.results.rows import summary

    mse = summary(rows, "mse")
    return None if mse is None else mse[0]
