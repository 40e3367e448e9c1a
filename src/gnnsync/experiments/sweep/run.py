"""`gnnsync run -m`: plan the jobs, run those that are left, tell what became of them."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from hydra._internal.hydra import Hydra
from hydra.errors import HydraException
from hydra.types import TaskFunction

from gnnsync.errors import GnnsyncError, first_line
from gnnsync.experiments.config import Settings
from gnnsync.experiments.sweep.command import Command
from gnnsync.experiments.sweep.launch import Launched, launch_all, sweep_launcher
from gnnsync.experiments.sweep.plan import Plan
from gnnsync.experiments.sweep.summary import failures, summarise
from gnnsync.io.files import writable_directory
from gnnsync.results.locks import claim

log = logging.getLogger(__name__)


def run_sweep(hydra: Hydra, command: Command, task: TaskFunction) -> bool:
    """Run what is left of a sweep over given values; whether every job has succeeded."""
    plan = Plan.of(command.grids)
    for folder in plan.folders:
        with claim(writable_directory(folder)):
            plan.write(folder)
    launched = Launched()
    print(f"gnnsync: {plan}", file=sys.stderr)
    if plan.left:
        launcher = sweep_launcher(hydra, command.overrides, task)
        launched = launch_all(launcher, plan.left, command.first.hydra.sweeper.max_batch_size)
    _summarise(plan.folders)
    told = [f"{job}: {error}" for job, error in launched.failed.items()]
    _tell(told, f"of {len(plan.jobs)} jobs failed")
    told = [f"{job}: {reason}" for job, reason in launched.lost.items()]
    _tell(told, f"of {len(plan.jobs)} jobs have no result; the same command runs them again")
    return not launched.failed and not launched.lost


def run_search(search: Callable[[], None], command: Command) -> bool:
    """Run a search by another sweeper and summarise it; whether it and every job succeeded."""
    start, folder = time.time(), Settings.of(command.first).folder
    stopped = None
    logging.getLogger("alembic").setLevel(logging.WARNING)  # Optuna's, loaded by the search
    try:
        search()
    except (GnnsyncError, HydraException):
        raise
    except Exception as error:  # a sweeper that cannot go on says so in its own way
        log.debug("the search stopped", exc_info=True)
        stopped = error
    _summarise([folder])
    failed = failures(folder, start)
    _tell(failed, "jobs failed")
    if stopped is not None:
        print(f"gnnsync: the search stopped: {first_line(stopped)}", file=sys.stderr)
    return not failed and stopped is None


def _summarise(folders: Iterable[Path]) -> None:
    for folder in folders:
        try:
            with claim(folder):
                summarise(folder)
        except (OSError, GnnsyncError) as error:
            # The results of the jobs are what counts, and they are there.
            print(f"gnnsync: no summary in {folder}: {error}", file=sys.stderr)


def _tell(lines: list[str], what: str) -> None:
    if lines:
        print(f"gnnsync: {len(lines)} {what}:", file=sys.stderr)
    for line in lines:
        print(f"  {line}", file=sys.stderr)
