"""Base class of the Ray and Slurm launchers."""

from __future__ import annotations

from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class ClusterLauncher(Launcher):
    """Base of launchers with jobs in other processes; a job that dies does not stop the others."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what a launch needs."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config


def died(error: Exception) -> JobReturn:
    """The return value of a job that did not come back."""
    done = JobReturn(status=JobStatus.FAILED)
    done.return_value = error
    return done
