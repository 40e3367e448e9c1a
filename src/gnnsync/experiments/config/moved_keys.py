"""Config keys of earlier versions and where their setting is now.

`moved` gives the hint for one key; it is used both for overrides that Hydra refuses because the key
no longer exists, and for keys that were added with `+`.
"""

from __future__ import annotations

from omegaconf import DictConfig, OmegaConf

from gnnsync.errors import ConfigError

MOVED_KEYS = {
    "data.degrees": "data.unit",
    "anchors.degrees": "anchors.unit",
    "trainer.patience": "callbacks.stopping.patience",
    "trainer.eval_every": "method.eval_every",
    "trainer.steps_per_epoch": "method.inner_steps",
    "trainer.options": "trainer",
    "method.training": "trainer",
    "logger._target_": "logger.NAME._target_",
    "logger.mode": "logger.wandb.mode",
    "logger.project": "logger.wandb.project",
    "logger.entity": "logger.wandb.entity",
    "logger.tags": "logger.wandb.tags",
    "logger.checkpoint": "logger.wandb.checkpoint",
    "logger.name": "logger.NAME.name",
    "logger.version": "logger.NAME.version",
}
_REASONS = {
    "trainer": "any argument of pytorch_lightning.Trainer is a key of trainer",
    "logger": "logger is a dictionary of loggers by name: choose logger=wandb, csv, ... first",
}


def moved(key: str) -> str | None:
    """One line that names the new key of a setting that has moved; None for any other key."""
    for old, new in MOVED_KEYS.items():
        if key == old or key.startswith(f"{old}."):
            place = new + key[len(old) :]
            reason = _REASONS.get(place.partition(".")[0], "")
            return f"{key}: is now {place}" + (f" ({reason})" if reason else "")
    return None


def refuse_moved_keys(cfg: DictConfig) -> None:
    """Raise a `ConfigError` if a composed config has a key of an earlier version."""
    for old in MOVED_KEYS:
        parent, _, name = old.rpartition(".")
        node = OmegaConf.select(cfg, parent)
        if not isinstance(node, DictConfig) or name not in node:
            continue
        value = OmegaConf.to_container(node, resolve=False)[name]  # type: ignore[index, call-overload]
        inner = f".{next(iter(value))}" if isinstance(value, dict) and value else ""
        raise ConfigError(moved(old + inner) or old)
