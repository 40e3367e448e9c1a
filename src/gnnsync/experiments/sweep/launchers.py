"""What can be known of a launcher before it is used: is it installed, does it fit the jobs."""

from __future__ import annotations

import importlib.util
import logging
import shutil

from omegaconf import DictConfig, OmegaConf

from gnnsync.errors import ConfigError, check_real

log = logging.getLogger(__name__)

# The module that a launcher or sweeper of Hydra needs, and the extra of gnnsync that brings it.
_EXTRAS = {
    "joblib": ("hydra_plugins.hydra_joblib_launcher", "joblib"),
    "ray": ("hydra_plugins.hydra_ray_launcher", "ray"),
    "ray_gpu": ("hydra_plugins.hydra_ray_launcher", "ray"),
    "slurm": ("hydra_plugins.hydra_submitit_launcher", "slurm"),
}


def check_launcher(cfg: DictConfig) -> None:
    """Refuse a launcher that cannot work, and say what to install or change.

    Args:
        cfg: a config with Hydra's own part.
    """
    name = str(cfg.hydra.runtime.choices.get("hydra/launcher", ""))
    module, extra = _EXTRAS.get(name, (None, None))
    if module is not None and not _installed(module):
        raise ConfigError(
            f"hydra/launcher = {name}: is not installed: pip install 'gnnsync[{extra}]'"
        )
    if name == "slurm" and shutil.which("sbatch") is None:
        raise ConfigError(
            "hydra/launcher = slurm: there is no sbatch here: start the sweep on a node of the "
            "cluster that can submit jobs, or use hydra/launcher=joblib"
        )
    if "gpus_per_job" in cfg:
        check_real("gpus_per_job", cfg.gpus_per_job, 0, 1, open_low=True)
        if OmegaConf.select(cfg, "method.training.accelerator") == "cpu":
            log.warning("the jobs hold a share of a GPU and do not use it: add trainer=gpu")


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
