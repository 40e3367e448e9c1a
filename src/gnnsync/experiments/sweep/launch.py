"""Running the jobs of a sweep that are left, by any launcher, whatever dies on the way."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass, field

from hydra._internal.callbacks import Callbacks
from hydra._internal.hydra import Hydra
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, RunMode, TaskFunction
from omegaconf import DictConfig

from gnnsync.errors import GnnsyncError, first_line
from gnnsync.experiments.sweep.plan import Job
from gnnsync.results.locks import claimed, last_claimed

log = logging.getLogger(__name__)

# What a job returns that another sweep is running.
HELD = "held"
_PATIENCE = 1.0


class LaunchError(GnnsyncError):
    """A launcher could not start a single job."""


@dataclass
class Launched:
    """What became of the jobs that were launched.

    Args:
        failed: jobs that raised an error, and the error.
        lost: jobs that left neither a result nor an error: killed, or their worker died.
    """

    failed: dict[Job, str] = field(default_factory=dict)
    lost: dict[Job, str] = field(default_factory=dict)


def sweep_launcher(hydra: Hydra, overrides: list[str], task: TaskFunction) -> Launcher:
    """The launcher that the overrides choose, ready to run `task`."""
    # Hydra's own command adds the mode as well: it is how a job knows that it is one of many.
    told = [*overrides, f"hydra.mode={RunMode.MULTIRUN.name}"]
    cfg: DictConfig = hydra.compose_config("config", told, RunMode.MULTIRUN, True)
    _cap_threads(int(cfg.threads))
    context = HydraContext(config_loader=hydra.config_loader, callbacks=Callbacks(cfg))
    return Plugins.instance().instantiate_launcher(context, task, cfg)


def launch_all(launcher: Launcher, jobs: list[Job], batch: int | None = None) -> Launched:
    """Run every job once; a job that fails or dies does not stop the others.

    A launcher that breaks when one of its workers dies (joblib) is started again: with the jobs
    that it had not begun, and with each of those that may have been the cause, alone. Jobs that
    another sweep is running are waited for.
    """
    run = _Run(launcher, jobs, batch)
    left = jobs
    while left:
        broken = run.launch(left)
        if broken is None:
            left = run.released(left)
            continue
        unsettled = [job for job in left if not run.settled(job)]
        suspects = [job for job in unsettled if run.begun(job) and not claimed(job.folder)]
        if len(unsettled) == len(left) and not suspects:
            raise LaunchError(f"no job could be started: {first_line(broken)}") from broken
        log.warning("a worker died; going on with the other jobs (%s)", first_line(broken))
        for job in suspects:
            run.launch([job])
        left = [job for job in unsettled if job not in suspects]
    return run.outcome()


class _Run:
    """The jobs on their way, seen from the folders in which they write."""

    def __init__(self, launcher: Launcher, jobs: list[Job], batch: int | None) -> None:
        self.launcher, self.jobs, self.batch = launcher, jobs, batch
        # Clocks of other machines may differ: what has changed since is told by no clock.
        self._failed_before = {job: job.failed_at for job in jobs}
        self._begun_before = {job: last_claimed(job.folder) for job in jobs}
        self._reasons: dict[Job, str] = {}
        self._held: set[Job] = set()

    def launch(self, jobs: list[Job]) -> Exception | None:
        """Launch jobs, in batches if asked; the error if the launcher itself gave up."""
        size = self.batch or len(jobs)
        for start in range(0, len(jobs), size):
            part = jobs[start : start + size]
            try:
                returns = self.launcher.launch([list(job.overrides) for job in part], start)
            except Exception as error:
                log.debug("the launcher gave up", exc_info=True)
                return error
            for job, done in zip(part, returns, strict=True):
                self._note(job, done)
        return None

    def _note(self, job: Job, done: JobReturn) -> None:
        self._held.discard(job)
        if done.status != JobStatus.COMPLETED:
            error = getattr(done, "_return_value", None)
            self._reasons[job] = first_line(error) if isinstance(error, BaseException) else ""
        elif done.return_value == HELD:
            self._held.add(job)

    def released(self, jobs: list[Job]) -> list[Job]:
        """Wait while another sweep runs any of the jobs; those that it then leaves undone."""
        held = [job for job in jobs if job in self._held]
        if held:
            log.info("waiting for %d jobs that another sweep is running", len(held))
        while any(claimed(job.folder) for job in held):
            time.sleep(_PATIENCE)
        return [job for job in held if not self.settled(job)]

    def settled(self, job: Job) -> bool:
        """Whether the job has come to an end, good or bad."""
        return job.done or self._failed(job)

    def begun(self, job: Job) -> bool:
        """Whether work on the job has begun since the launch."""
        return last_claimed(job.folder) != self._begun_before[job]

    def _failed(self, job: Job) -> bool:
        return job.failed_at != self._failed_before[job] and job.failure is not None

    def outcome(self) -> Launched:
        """What became of the jobs that have not succeeded."""
        outcome = Launched()
        for job in self.jobs:
            if job.done:
                continue
            if self._failed(job):
                outcome.failed[job] = str((job.failure or {}).get("error", ""))
            else:
                outcome.lost[job] = self._reasons.get(job) or "killed, or its worker died"
        return outcome


def _cap_threads(threads: int) -> None:
    """Worker processes read these once, when they load their numerical libraries."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, str(threads))
