"""Presets that are sweeps: the keys that they sweep, and refusing one without `-m`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from gnnsync.errors import ConfigError


def preset_axes(cfg: DictConfig, sweeper: Mapping[str, Any]) -> dict[str, str]:
    """The values that a config sweeps by itself, by key, as on the command line.

    Args:
        cfg: the composed config; its `grid` has a set of axes per `scale`.
        sweeper: config of the sweeper, whose `params` are axes.
    """
    axes = {str(key): str(value) for key, value in (sweeper.get("params") or {}).items()}
    if "grid" in cfg:
        if cfg.scale not in cfg.grid:
            raise ConfigError(f"scale = {cfg.scale}: must be one of {', '.join(cfg.grid)}")
        axes |= {str(key): str(value) for key, value in cfg.grid[cfg.scale].items()}
    return axes


def refuse_sweep_without_m(cfg: DictConfig) -> None:
    """Raise a `ConfigError` if a single job is asked for and the preset is a sweep.

    The job would be the preset's first cell or none of its cells, in the folder of the study. One
    job is run if it is stated: all swept keys are given, or `sweep=null`, or `debug=CHOICE`.
    """
    hydra = HydraConfig.get()
    # As plain values: a text with a reference would be resolved.
    texts: Any = OmegaConf.to_container(hydra.overrides.task, resolve=False)
    sweeper: Any = OmegaConf.to_container(hydra.sweeper, resolve=False)
    given = {text.partition("=")[0].lstrip("+~") for text in texts}
    if hydra.runtime.choices.get("debug") or ("sweep" in given and cfg.sweep is None):
        return
    swept = [key.lstrip("+~") for key in preset_axes(cfg, sweeper)]
    missing = [key for key in swept if key not in given]
    if missing:
        preset = hydra.runtime.choices.get("experiment")
        name = f"experiment={preset}" if preset else "this config"
        raise ConfigError(
            f"{name} is a sweep over {', '.join(missing)}: add -m "
            "(for one job give a value to each of these keys, or sweep=null)"
        )
