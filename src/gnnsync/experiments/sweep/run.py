"""A whole sweep: check the command, plan its jobs, run those that are left, summarise all."""

from __future__ import annotations

import copy
import logging
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, read_write

from gnnsync.errors import GnnsyncError, first_line
from gnnsync.experiments.config.building import Settings
from gnnsync.experiments.config.command_line import with_override
from gnnsync.experiments.sweep.command import Command
from gnnsync.experiments.sweep.follow import Follower
from gnnsync.experiments.sweep.launch import Launched, batch_size, cap_threads, launch_all
from gnnsync.experiments.sweep.plan import Plan, count
from gnnsync.experiments.sweep.standing import Standing
from gnnsync.experiments.sweep.watch import watched
from gnnsync.experiments.tracking.secrets import Secrets, masked_arguments
from gnnsync.io.files import writable_directory
from gnnsync.results.locks import exclusive

log = logging.getLogger(__name__)


def run_sweep(context: HydraContext, task: TaskFunction, config: DictConfig) -> bool:
    """Run every job of a sweep that has no result yet; whether all of them have succeeded.

    Args:
        context, task, config: as Hydra gives them to a sweeper; the config is that of the
            command line without the overrides that are swept.
    """
    command = Command.of(_overrides(config)).check()
    plan = Plan.of(command.grids)
    for folder in plan.folders:
        with exclusive(writable_directory(folder)):
            plan.write(folder)
    launched = Launched()
    config = _named(config, command)
    print(f"gnnsync: {plan}", file=sys.stderr, flush=True)
    if plan.left:
        cap_threads(int(config.threads))
        launcher = Plugins.instance().instantiate_launcher(context, task, config)
        standing = Standing(len(plan.jobs), done=len(plan.done))
        for job in plan.done:
            standing.offer(job.mse, job.label)
        with watched(Follower(plan.left, plan.folders, standing)):
            launched = launch_all(launcher, plan.left, batch_size(command.first))
    _summarise(plan.folders)
    failed = [f"{job}: {error}" for job, error in launched.failed.items()]
    total = count(len(plan.jobs), "job")
    _list(failed, f"{len(failed)} of {total} failed")
    lost = [f"{job}: {reason}" for job, reason in launched.lost.items()]
    _list(lost, f"{len(lost)} of {total} left no result; the same command runs them again")
    return not failed and not lost


def run_search(search: Callable[[DictConfig, list[str]], None], config: DictConfig) -> bool:
    """Run a search by another sweeper and summarise it; whether it and every job succeeded.

    Args:
        search: starts the other sweeper with a config and further overrides.
        config: as Hydra gives it to a sweeper.
    """
    command = Command.of(_overrides(config), search=True).check()
    config = _named(config, command)
    start, folder = time.time(), Settings.of(command.first).folder
    further = []
    if command.new_name is not None:
        folder = Path(str(config.output_dir)) / command.new_name
        further = [f"sweep={command.new_name}"]
    config = copy.deepcopy(config)
    with read_write(config.hydra):
        config.hydra.sweep.dir = str(folder)  # where a search writes its best parameters
    cap_threads(int(config.threads))
    stopped = None
    try:
        with watched(Follower(None, [folder], Standing(_trials(config, folder)))):
            search(config, further)
    except (GnnsyncError, HydraException):
        raise
    except Exception as error:  # any sweeper raises what it likes when it cannot go on
        log.debug("the search stopped", exc_info=True)
        stopped = error
    _summarise([folder])
    from gnnsync.experiments.sweep.summary import failures  # loads pandas and Matplotlib

    failed = failures(folder, start)
    _list(failed, f"{count(len(failed), 'job')} failed")
    if stopped is not None:
        print(f"gnnsync: the search stopped: {first_line(stopped)}", file=sys.stderr)
    return not failed and stopped is None


def _named(config: DictConfig, command: Command) -> DictConfig:
    """The config with the new name of a sweep, which is printed with the command to continue it."""
    if command.new_name is None:
        return config
    arguments = with_override(sys.argv[1:], f"sweep={command.new_name}")
    shown = masked_arguments(arguments, Secrets.of(command.first))
    again = shlex.join(["gnnsync", "run", *shown])
    print(f"gnnsync: to continue this sweep: {again}", file=sys.stderr)
    config = copy.deepcopy(config)
    with read_write(config):
        config.sweep = command.new_name
    return config


def _trials(config: DictConfig, folder: Path) -> int | None:
    """The jobs of a search; None if they are not known before.

    A search that is continued skips jobs that it finds in its folder, without telling which.
    """
    if folder.is_dir() and any(path.is_dir() for path in folder.iterdir()):
        return None
    trials = config.hydra.sweeper.get("n_trials")
    return None if trials is None else int(trials)


def _overrides(config: DictConfig) -> list[str]:
    """The overrides of the command line."""
    return [*config.hydra.overrides.hydra, *config.hydra.overrides.task]


def _summarise(folders: Iterable[Path]) -> None:
    from gnnsync.experiments.sweep.summary import summarise  # loads pandas and Matplotlib

    for folder in folders:
        try:
            with exclusive(folder):
                summarise(folder)
        except (OSError, GnnsyncError) as error:
            # The results of the jobs are complete without their summary.
            print(f"gnnsync: no summary in {folder}: {error}", file=sys.stderr)


def _list(lines: list[str], title: str) -> None:
    if lines:
        print(f"gnnsync: {title}:", file=sys.stderr)
    for line in lines:
        print(f"  {line}", file=sys.stderr)
