"""Jobs as one Slurm array."""

from __future__ import annotations

import getpass
import logging
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, configure_log, filter_overrides
from omegaconf import OmegaConf

from hydra_plugins.hydra_gnnsync.launcher import ClusterLauncher, died

log = logging.getLogger(__name__)

_PAUSE = 2.0
# A shared file system may show a result some time after its job has ended.
_GRACE = 10.0


class SlurmLauncher(ClusterLauncher):
    """hydra-submitit-launcher, except that a cancelled job does not stop the others.

    Args:
        submitit_folder: where scripts, logs and pickles of the batch jobs go.
        max_num_timeout: how often a job that runs out of time is queued again.
        parameters: those of hydra-submitit-launcher: partition, gres, timeout_min, ...
    """

    def __init__(self, submitit_folder: str, max_num_timeout: int, **parameters: Any) -> None:
        self.folder, self.max_num_timeout = submitit_folder, max_num_timeout
        self.parameters = {
            name: OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
            for name, value in parameters.items()
        }

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Submit all jobs as one array, then wait until none of them is in the queue."""
        # Submitit is an extra, and Hydra loads every plugin at every start.
        from hydra_plugins.hydra_submitit_launcher import submitit_launcher

        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        run = submitit_launcher.SlurmLauncher()
        run.setup(
            hydra_context=self.hydra_context, task_function=self.task_function, config=self.config
        )
        calls: list[tuple[Any, ...]] = []
        for number, overrides in enumerate(job_overrides, initial_job_idx):
            log.debug("#%d : %s", number, " ".join(filter_overrides(overrides)))
            name = f"job_id_for_{number}"
            calls.append((list(overrides), "hydra.sweep.dir", number, name, Singleton.get_state()))
        jobs = self._executor().map_array(run, *zip(*calls, strict=True))
        array = jobs[0].job_id.partition("_")[0]
        # A warning, since the sweep keeps the other messages of launchers back.
        log.warning("jobs in Slurm's array %s: %d; logs: %s", array, len(jobs), self.folder)
        try:
            _wait(jobs)
        except KeyboardInterrupt:
            log.warning("the jobs go on in Slurm; `scancel %s` stops them", array)
            raise
        results = [_result(job) for job in jobs]
        for job in jobs:
            # Both hold the whole config, with the keys of loggers.
            job.paths.submitted_pickle.unlink(missing_ok=True)
            job.paths.result_pickle.unlink(missing_ok=True)
        return results

    def _executor(self) -> Any:
        # As above: an extra.
        import submitit
        from hydra_plugins.hydra_submitit_launcher.config import BaseQueueConf

        top = Path(self.folder.partition("%")[0])  # %j is the number of the job
        if not top.is_dir():
            top.mkdir(parents=True, mode=0o700)  # while the jobs run, it holds their configs
        executor = submitit.AutoExecutor(
            self.folder, cluster="slurm", slurm_max_num_timeout=self.max_num_timeout
        )
        shared = BaseQueueConf.__dataclass_fields__
        executor.update_parameters(
            **{
                name if name in shared else f"slurm_{name}": value
                for name, value in self.parameters.items()
            }
        )
        return executor


def _wait(jobs: list[Any]) -> None:
    """Wait until every job has a result or has left the queue for good.

    `squeue` knows every job that may still run; `sacct` needs a data base that clusters may lack.
    """
    gone: dict[str, float] = {}
    left = jobs
    while left:
        queued = _queued()
        now = time.monotonic()
        for job in left:
            if queued is None or job.job_id in queued:
                gone.pop(job.job_id, None)
            else:
                gone.setdefault(job.job_id, now)
        left = [
            job
            for job in left
            if not job.paths.result_pickle.exists() and now - gone.get(job.job_id, now) < _GRACE
        ]
        if left:
            time.sleep(_PAUSE)


def _queued() -> set[str] | None:
    """Jobs of this user that are pending or running; None if Slurm does not answer now."""
    command = ["squeue", "--noheader", "--array", "--format=%i", f"--user={getpass.getuser()}"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None
    return set(asked.stdout.split()) if asked.returncode == 0 else None


def _result(job: Any) -> JobReturn:
    if not job.paths.result_pickle.exists():
        return died(RuntimeError(f"Slurm job {job.job_id} was cancelled or killed"))
    try:
        done: JobReturn = job.result()
    except Exception as error:
        return died(error)
    return done
