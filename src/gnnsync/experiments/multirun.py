"""`gnnsync run -m`: plan the jobs, run those that are left, tell what became of them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from pathlib import Path

from hydra._internal.hydra import Hydra
from hydra.types import TaskFunction

from gnnsync.errors import GnnsyncError
from gnnsync.experiments.claim import claim
from gnnsync.experiments.command import Command
from gnnsync.experiments.launch import Launched, launch_all, sweep_launcher
from gnnsync.experiments.paths import writable_directory
from gnnsync.experiments.plan import Plan
from gnnsync.experiments.settings import Settings
from gnnsync.experiments.sweep import failures, summarise

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


def conclude_search(command: Command, since: float) -> bool:
    """Summarise a search that another sweeper has run; whether every job has succeeded."""
    folder = Settings.of(command.first).folder
    _summarise([folder])
    failed = failures(folder, since)
    _tell(failed, "jobs failed")
    return not failed


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
