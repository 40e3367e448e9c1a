"""`gnnsync run`: the Hydra application."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from pathlib import Path

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from gnnsync.errors import GnnsyncError
from gnnsync.experiments.paths import conf_dir
from gnnsync.experiments.preflight import check_command

log = logging.getLogger(__name__)

BAD_INPUT, INTERRUPTED, FAILED = 2, 130, 1
_refused: list[GnnsyncError] = []


def run(arguments: list[str]) -> int:
    """Run the job, or the sweep, that the arguments describe; returns the exit code."""
    parsed = get_args_parser().parse_args(arguments)
    _refused.clear()
    folders: set[Path] = set()
    start = time.time()
    try:
        if not (parsed.help or parsed.hydra_help or parsed.info or parsed.cfg):
            folders = check_command(parsed.overrides, conf_dir(), parsed.multirun)
        sys.argv = ["gnnsync run", *arguments]
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(task)()
    except GnnsyncError as error:
        print(f"gnnsync: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("gnnsync: interrupted; finished results are kept", file=sys.stderr)
        return INTERRUPTED
    if _refused:
        print(f"gnnsync: {_refused[0]}", file=sys.stderr)
        return BAD_INPUT
    return _conclude(folders, start) if parsed.multirun else 0


def task(cfg: DictConfig) -> float | None:
    """One job; its mean MSE is what a hyper-parameter sweeper minimises.

    In a sweep a failed job leaves a note and the others go on; launchers may run this anywhere.
    """
    quieten()
    from gnnsync.experiments.job import run_job, write_failure
    from gnnsync.experiments.rows import summary

    hydra_cfg = HydraConfig.get()
    in_sweep = hydra_cfg.mode == RunMode.MULTIRUN
    try:
        rows = run_job(cfg, in_sweep=in_sweep)
    except Exception as error:
        if in_sweep:
            overrides = list(hydra_cfg.overrides.task)
            log.exception("job failed: %s", " ".join(overrides))
            write_failure(cfg, overrides, error)
        elif isinstance(error, GnnsyncError):
            # Told in one line when Hydra is done; raised here, Hydra would frame it.
            _refused.append(error)
        else:
            raise
        return None
    mse = summary(rows, "mse")
    return None if mse is None else mse[0]


def _conclude(folders: set[Path], start: float) -> int:
    """Table, figures and failures of a sweep that has run."""
    from gnnsync.experiments.sweep import failures, summarise

    failed = []
    for folder in sorted(folders):
        summarise(folder)
        failed += failures(folder, start)
    if not failed:
        return 0
    print(f"gnnsync: {len(failed)} of the jobs failed:", file=sys.stderr)
    for line in failed:
        print(f"  {line}", file=sys.stderr)
    return FAILED


def quieten() -> None:
    """Keep Lightning's advertisements and beta notices out of the log."""
    for name in ("lightning.pytorch", "lightning.fabric", "lightning.pytorch.utilities.rank_zero"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*isinstance.treespec, LeafSpec.*")
