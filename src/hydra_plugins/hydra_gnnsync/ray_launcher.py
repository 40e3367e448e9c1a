"""Jobs as Ray tasks."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator, Sequence
from typing import Any

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, configure_log, filter_overrides, setup_globals
from omegaconf import DictConfig, OmegaConf, open_dict

from gnnsync.errors import ConfigError
from gnnsync.experiments.guard import guard_children
from gnnsync.experiments.signals import kept_handlers
from hydra_plugins.hydra_gnnsync.launcher import ClusterLauncher, died

log = logging.getLogger(__name__)


class RayLauncher(ClusterLauncher):
    """hydra-ray-launcher, except that a worker that dies ends only its own job.

    Args:
        ray: `init` and `remote`, the arguments of `ray.init` and `ray.remote`.
    """

    def __init__(self, ray: DictConfig) -> None:
        # A copy: the config may be read-only.
        self.ray = OmegaConf.create(OmegaConf.to_container(ray, resolve=True))

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Submit all jobs, then wait for each."""
        # Ray is slow to load, and Hydra loads every plugin at every start. The module is private,
        # but what it holds, packing a job for a remote process, is in no public one.
        from hydra_plugins.hydra_ray_launcher._launcher_util import launch_job_on_ray, start_ray

        setup_globals()
        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        variables = self.ray.init.runtime_env.env_vars
        variables.update({name: str(value) for name, value in variables.items()})
        _check_address(self.ray.init.address)
        if self.ray.init.address == "local":
            guard_children()
        with kept_handlers():  # Ray sets its own for SIGTERM
            start_ray(self.ray.init)
        check_resources(self.ray.remote, here=self.ray.init.address == "local")
        tasks = []
        for number, overrides in enumerate(job_overrides, initial_job_idx):
            log.debug("#%d : %s", number, " ".join(filter_overrides(overrides)))
            loader = self.hydra_context.config_loader
            cfg = loader.load_sweep_config(self.config, list(overrides))
            with open_dict(cfg):
                cfg.hydra.job.id, cfg.hydra.job.num = f"job_id_for_{number}", number
            state = Singleton.get_state()
            tasks.append(
                launch_job_on_ray(
                    self.hydra_context, self.ray.remote, cfg, self.task_function, state
                )
            )
        return list(_results(tasks))


def _check_address(address: str | None) -> None:
    """Refuse an address without a cluster, for which Ray itself may wait for ever."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise ConnectionError(f"no Ray cluster at {address} ({error})") from None


def check_resources(remote: DictConfig, *, here: bool) -> None:
    """Say what no node of the cluster can hold; refuse it where no node will ever join.

    Args:
        remote: what a job needs.
        here: whether Ray was started on this machine alone. Any other cluster may grow: by nodes
            that it starts itself as soon as a job waits for them, or that somebody adds.
    """
    import ray  # an extra, and slow to load

    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    for key, resource in (("num_gpus", "GPU"), ("num_cpus", "CPU")):
        needed = remote.get(key) or 0
        largest = max((node.get(resource, 0) for node in nodes), default=0)
        if needed <= largest:
            continue
        told = (
            f"a job needs {needed:g} {resource}, and no node of the Ray cluster has more than "
            f"{largest:g}"
        )
        if here:
            raise ConfigError(told)
        log.warning("gnnsync: %s: waiting for one that joins (Ctrl-C ends the sweep)", told)


def _results(tasks: list[Any]) -> Iterator[JobReturn]:
    import ray  # an extra, and slow to load

    for task in tasks:
        try:
            done = ray.get(task)
            # Not needed any more, and a third of a megabyte.
            done.cfg = done.hydra_cfg = None
            yield done
        except ray.exceptions.RayError as error:
            yield died(error)
