"""`gnnsync run`: the Hydra application."""

from __future__ import annotations

import logging
import sys
import warnings

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig

from gnnsync.errors import GnnsyncError, first_line
from gnnsync.experiments.composing import hydra_configs
from gnnsync.experiments.paths import conf_dir
from gnnsync.experiments.sweep.preflight import check_command
from gnnsync.results.files import reproducing
from gnnsync.results.locks import claim

log = logging.getLogger(__name__)

BAD_INPUT, INTERRUPTED, FAILED = 2, 130, 1
_refused: list[GnnsyncError] = []


def run(arguments: list[str]) -> int:
    """Run the job, or the sweep, that the arguments describe; returns the exit code."""
    parsed = get_args_parser().parse_args(arguments)
    _refused.clear()
    try:
        if parsed.help or parsed.hydra_help or parsed.info or parsed.cfg:
            _hydra_main(arguments)
            return 0
        with hydra_configs(parsed.config_dir) as configs:
            command = check_command(parsed.overrides, parsed.multirun)
            if parsed.multirun and command.is_product:
                from gnnsync.experiments.sweep.run import run_sweep

                return 0 if run_sweep(configs, command, task) else FAILED
        if parsed.multirun:
            from gnnsync.experiments.sweep.run import run_search

            return 0 if run_search(lambda: _hydra_main(arguments), command) else FAILED
        if "grid" in command.first:
            print("gnnsync: this preset is a sweep: -m runs it; now one job", file=sys.stderr)
        _hydra_main(arguments)
    except (GnnsyncError, HydraException) as error:
        print(f"gnnsync: {first_line(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("gnnsync: interrupted; finished results are kept", file=sys.stderr)
        return INTERRUPTED
    if _refused:
        print(f"gnnsync: {_refused[0]}", file=sys.stderr)
        return BAD_INPUT
    return 0


def task(cfg: DictConfig) -> float | str | None:
    """One job; its mean MSE is what a hyper-parameter sweeper minimises.

    In a sweep a failed job leaves a note and the others go on; launchers may run this anywhere.
    """
    quieten()
    from gnnsync.experiments.job import run_job
    from gnnsync.results.rows import summary

    in_sweep = HydraConfig.get().mode == RunMode.MULTIRUN
    if in_sweep:
        return _sweep_task(cfg)
    try:
        rows = run_job(cfg)
    except GnnsyncError as error:
        # Told in one line when Hydra is done; raised here, Hydra would frame it.
        _refused.append(error)
        return None
    mse = summary(rows, "mse")
    return None if mse is None else mse[0]


def _sweep_task(cfg: DictConfig) -> float | str | None:
    from gnnsync.experiments.config import Settings
    from gnnsync.experiments.hashing import job_hash
    from gnnsync.experiments.job import run_job, write_failure
    from gnnsync.experiments.sweep.launch import HELD
    from gnnsync.results.rows import summary

    try:
        with claim(Settings.of(cfg).folder / job_hash(cfg)) as mine:
            if not mine:
                return HELD
            mse = summary(run_job(cfg, in_sweep=True), "mse")
            return None if mse is None else mse[0]
    except Exception as error:
        overrides = reproducing(list(HydraConfig.get().overrides.task))
        log.exception("job failed: %s", " ".join(overrides))
        write_failure(cfg, overrides, error)
        return None


def _hydra_main(arguments: list[str]) -> None:
    sys.argv = ["gnnsync run", *arguments]
    hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(task)()


def quieten() -> None:
    """Keep Lightning's advertisements and beta notices out of the log."""
    for name in ("pytorch_lightning", "lightning_fabric", "pytorch_lightning.utilities.rank_zero"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message="The `srun` command is available")
    warnings.filterwarnings("ignore", message=".*isinstance.treespec, LeafSpec.*")
