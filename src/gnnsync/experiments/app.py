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
_failed: list[str] = []
_sweeps: set[Path] = set()


def run(arguments: list[str]) -> int:
    """Run the job, or the sweep, that the arguments describe; returns the exit code."""
    parsed = get_args_parser().parse_args(arguments)
    _failed.clear()
    _sweeps.clear()
    try:
        if not (parsed.help or parsed.hydra_help or parsed.info or parsed.cfg):
            check_command(parsed.overrides, conf_dir(), parsed.multirun)
        sys.argv = ["gnnsync run", *arguments]
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(task)()
    except GnnsyncError as error:
        print(f"gnnsync: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("gnnsync: interrupted; finished results are kept", file=sys.stderr)
        return INTERRUPTED
    if parsed.multirun and _sweeps:
        from gnnsync.experiments.sweep import summarise

        for folder in sorted(_sweeps):
            summarise(folder)
    if _failed and not parsed.multirun:
        print(f"gnnsync: {_failed[0]}", file=sys.stderr)
        return BAD_INPUT
    if _failed:
        print(f"gnnsync: {len(_failed)} of the jobs failed:", file=sys.stderr)
        for line in _failed:
            print(f"  {line}", file=sys.stderr)
        return FAILED
    return 0


def task(cfg: DictConfig) -> float | None:
    """One job; its mean MSE is what a hyper-parameter sweeper minimises.

    In a sweep a failed job is noted and the others go on.
    """
    quieten()
    from gnnsync.experiments.job import run_job
    from gnnsync.experiments.rows import summary

    many = HydraConfig.get().mode == RunMode.MULTIRUN
    _sweeps.add(Path(str(cfg.output_dir)) / str(cfg.sweep))
    start = time.perf_counter()
    try:
        rows = run_job(cfg, in_sweep=many)
    except GnnsyncError as error:
        # Told in one line when Hydra is done; raised here, Hydra would frame it.
        _failed.append(
            f"{' '.join(HydraConfig.get().overrides.task)}: {error}" if many else str(error)
        )
        return None
    except Exception as error:
        if not many:
            raise
        overrides = " ".join(HydraConfig.get().overrides.task)
        log.exception("job failed after %.1f s: %s", time.perf_counter() - start, overrides)
        _failed.append(f"{overrides}: {error}")
        return None
    mse = summary(rows, "mse")
    return None if mse is None else mse[0]


def quieten() -> None:
    """Keep Lightning's advertisements and beta notices out of the log."""
    for name in ("lightning.pytorch", "lightning.fabric", "lightning.pytorch.utilities.rank_zero"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*isinstance.treespec, LeafSpec.*")
