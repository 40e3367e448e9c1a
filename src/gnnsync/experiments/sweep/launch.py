"""Running the jobs of a sweep by any launcher, including when its workers die."""

from __future__ import annotations

import importlib.util
import io
import logging
import os
import shutil
import time
from contextlib import redirect_stderr
from dataclasses import dataclass, field

from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from omegaconf import DictConfig, OmegaConf

from gnnsync.errors import ConfigError, GnnsyncError, check_real, first_line
from gnnsync.experiments.app import HELD
from gnnsync.experiments.config.devices import gpu_count
from gnnsync.experiments.sweep.plan import Job, count
from gnnsync.results.locks import claimed, holder, last_claimed

log = logging.getLogger(__name__)

# Seconds between two looks at jobs that another sweep is running.
_PAUSE = 1.0
# The module that a launcher needs, and the extra of gnnsync that installs it, if any.
_PLUGINS = {
    "joblib": ("hydra_plugins.hydra_joblib_launcher", ""),
    "ray": ("hydra_plugins.hydra_ray_launcher", "[ray]"),
    "ray_gpu": ("hydra_plugins.hydra_ray_launcher", "[ray]"),
    "slurm": ("hydra_plugins.hydra_submitit_launcher", "[slurm]"),
}


class LaunchError(GnnsyncError):
    """A launcher could not start a single job."""


@dataclass
class Launched:
    """The launched jobs that have not succeeded.

    Args:
        failed: jobs that raised an error, and the error.
        lost: jobs that left neither a result nor an error: killed, or their worker died.
    """

    failed: dict[Job, str] = field(default_factory=dict)
    lost: dict[Job, str] = field(default_factory=dict)


def check_launcher(cfg: DictConfig) -> None:
    """Refuse a launcher that cannot work, and say what to install or change.

    Args:
        cfg: a config with Hydra's own part.
    """
    name = str(cfg.hydra.runtime.choices.get("hydra/launcher", ""))
    module, extra = _PLUGINS.get(name, (None, ""))
    if module is not None and not _installed(module):
        raise ConfigError(
            f"hydra/launcher = {name}: is not installed: pip install 'gnnsync{extra}'"
        )
    if name == "slurm" and shutil.which("sbatch") is None:
        raise ConfigError(
            "hydra/launcher = slurm: there is no sbatch here: start the sweep on a node of the "
            "cluster that can submit jobs, or use hydra/launcher=joblib"
        )
    if "gpus_per_job" in cfg:
        check_real("gpus_per_job", cfg.gpus_per_job, 0, 1, open_low=True)
        _check_local_gpus(cfg)
        if OmegaConf.select(cfg, "method.trainer.accelerator") == "cpu":
            log.warning("the jobs hold a share of a GPU and do not use it: add trainer=gpu")


def runs_here(cfg: DictConfig) -> bool:
    """Whether the launcher runs jobs on this machine, so that they have no device but its own."""
    name = str(cfg.hydra.runtime.choices.get("hydra/launcher", ""))
    return name in ("basic", "joblib") or (name == "ray" and _starts_ray(cfg))


def batch_size(cfg: DictConfig) -> int | None:
    """Jobs per call of the launcher; None: all.

    A launcher returns the configs of all jobs of a call, a third of a megabyte each. One that runs
    jobs one after the other loses nothing if it gets them one by one.
    """
    name = str(cfg.hydra.runtime.choices.get("hydra/launcher", ""))
    chosen: int | None = cfg.hydra.sweeper.max_batch_size
    return 1 if name == "basic" else chosen


def _check_local_gpus(cfg: DictConfig) -> None:
    """Refuse a share of a GPU on a machine without one, where Ray would wait for ever.

    A cluster is asked when it is connected.
    """
    if not _starts_ray(cfg):
        return
    stated = cfg.hydra.launcher.ray.init.get("num_gpus")
    if (gpu_count() if stated is None else stated) < cfg.gpus_per_job:
        raise ConfigError(
            "hydra/launcher = ray_gpu: this machine has no GPU, so no job could ever start: use "
            "hydra/launcher=ray, or a cluster with GPUs (hydra.launcher.ray.init.address=HOST:PORT)"
        )


def _starts_ray(cfg: DictConfig) -> bool:
    """Whether the launcher starts a Ray of its own on this machine; otherwise it joins one."""
    return cfg.hydra.launcher.ray.init.get("address") in (None, "local")


def cap_threads(threads: int) -> None:
    """Set the number of threads of worker processes, which read it as they load their libraries."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, str(threads))


def launch_all(launcher: Launcher, jobs: list[Job], batch: int | None = None) -> Launched:
    """Run every job once; a job that fails or dies does not stop the others.

    A launcher that breaks when one of its workers dies (joblib) is started again: with the jobs
    that it had not started, and with each of those that may have been the cause, alone. Jobs that
    another sweep is running are waited for.
    """
    run = _Run(launcher, jobs, batch)
    left = jobs
    while left:
        broken = run.launch(left)
        if broken is None:
            left = run.released(left)
            continue
        unfinished = [job for job in left if not run.ended(job)]
        suspects = [job for job in unfinished if run.started(job) and not claimed(job.folder)]
        if len(unfinished) == len(left) and not suspects:
            raise LaunchError(f"no job could be started: {first_line(broken)}") from broken
        log.warning("a worker died; going on with the other jobs (%s)", first_line(broken))
        for job in suspects:
            run.launch([job])
        left = [job for job in unfinished if job not in suspects]
    return run.outcome()


class _Run:
    """The state of launched jobs, read from their folders."""

    def __init__(self, launcher: Launcher, jobs: list[Job], batch: int | None) -> None:
        self.launcher, self.jobs, self.batch = launcher, jobs, batch
        # Compared for equality only: the clocks of other machines may differ.
        self._failed_before = {job: job.failed_at for job in jobs}
        self._started_before = {job: last_claimed(job.folder) for job in jobs}
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
            self._reasons[job] = _error(done)
        elif done.return_value == HELD:
            self._held.add(job)

    def released(self, jobs: list[Job]) -> list[Job]:
        """Wait while another sweep runs any of the jobs; those that it then leaves undone."""
        held = [job for job in jobs if job in self._held]
        if held:
            waiting = "waiting for %s that another sweep is running (%s)"
            log.info(waiting, count(len(held), "job"), holder(held[0].folder))
        while any(claimed(job.folder) for job in held):
            time.sleep(_PAUSE)
        return [job for job in held if not self.ended(job)]

    def ended(self, job: Job) -> bool:
        """Whether the job has succeeded or failed."""
        return job.done or self._failed(job)

    def started(self, job: Job) -> bool:
        """Whether work on the job has started since the launch."""
        return last_claimed(job.folder) != self._started_before[job]

    def _failed(self, job: Job) -> bool:
        return job.failed_at != self._failed_before[job] and job.failure is not None

    def outcome(self) -> Launched:
        """The jobs that have not succeeded."""
        outcome = Launched()
        for job in self.jobs:
            if job.done:
                continue
            if self._failed(job):
                outcome.failed[job] = str((job.failure or {}).get("error", ""))
            else:
                outcome.lost[job] = self._reasons.get(job) or "killed, or its worker died"
        return outcome


def _error(done: JobReturn) -> str:
    """The error of a job that did not come back."""
    try:
        with redirect_stderr(io.StringIO()):  # Hydra prints the overrides before it raises
            return str(done.return_value)
    except Exception as error:
        return first_line(error)


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
