"""Checking a composed config and building what it names."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gnnsync.data.base import SyncDataModule
from gnnsync.errors import (
    GnnsyncError,
    ParameterError,
    check_bool,
    check_integer,
    one_line,
)

# Where a user finds the parts that the method's config only refers to.
_PLACES = {
    "method.features": "model.features",
    "method.encoder": "model.encoder",
    "method.steps": "model.steps",
    "method.loss": "loss",
    "method.optimizer": "optimizer",
    "method.training": "trainer",
    "method.anchors": "anchors",
    "data.angles": "prior",
}

# Arguments of lightning.Trainer that could ask for more than one device, and what does not.
_ONE_DEVICE: dict[str, tuple[Any, ...]] = {
    "devices": (None,),
    "num_nodes": (1,),
    "strategy": ("auto", "single_device"),
}
# Keys of the config that decide what a job computes.
SCIENCE = ("data", "method", "trials", "seed", "fit", "ckpt")


class ConfigError(GnnsyncError):
    """A config is wrong: the message names the key, the value and what is allowed."""


@dataclass(frozen=True)
class Settings:
    """The top-level keys of a config, checked."""

    trials: int
    seed: int
    fit: bool
    ckpt: str | None
    resume: bool
    checkpoint_every: int
    figures: bool
    threads: int
    output_dir: Path
    sweep: str

    @property
    def folder(self) -> Path:
        """Where the jobs of this sweep have their folders."""
        return self.output_dir / self.sweep

    @classmethod
    def of(cls, cfg: DictConfig) -> Settings:
        """Read and check them."""
        settings = cls(
            trials=check_integer("trials", cfg.trials, 1),
            seed=check_integer("seed", cfg.seed, 0),
            fit=check_bool("fit", cfg.fit),
            ckpt=_text("ckpt", cfg.ckpt),
            resume=check_bool("resume", cfg.resume),
            checkpoint_every=check_integer("checkpoint_every", cfg.checkpoint_every, 0),
            figures=check_bool("figures", cfg.figures),
            threads=check_integer("threads", cfg.threads, 1),
            output_dir=Path(str(cfg.output_dir)),
            sweep=str(cfg.sweep),
        )
        if not re.fullmatch(r"[\w.+-]+(/[\w.+-]+)*", settings.sweep) or ".." in settings.sweep:
            raise ParameterError("sweep", settings.sweep, "letters, digits and . _ + - /")
        if not settings.fit and settings.ckpt is None:
            raise ConfigError("fit = false: needs ckpt=PATH, the checkpoint to evaluate")
        if settings.fit and settings.ckpt is not None:
            raise ConfigError(
                f"ckpt = {settings.ckpt}: is evaluated with fit=false; to continue an interrupted "
                "training use resume=true"
            )
        return settings


def build(cfg: DictConfig) -> tuple[Settings, SyncDataModule, Any]:
    """Settings, data module and method of a config; any fault is a one-line `ConfigError`."""
    try:
        settings = Settings.of(cfg)
    except ParameterError as error:
        raise ConfigError(str(error)) from None
    _check_devices(cfg)
    data = _instantiate(cfg, "data")
    method = _instantiate(cfg, "method")
    if not isinstance(data, SyncDataModule):
        raise ConfigError(f"data = {cfg.data._target_}: must be a gnnsync data module")
    if not callable(method):
        raise ConfigError(f"method = {cfg.method._target_}: must be a gnnsync method")
    if data.k > 1 and not getattr(method, "any_k", False):
        raise ConfigError(f"data.k = {data.k}: {cfg.method._target_} solves k = 1 only")
    return settings, data, method


def _check_devices(cfg: DictConfig) -> None:
    """Refuse several devices per job: replicas already train side by side on one."""
    options = OmegaConf.select(cfg, "method.training.options") or {}
    for name, harmless in _ONE_DEVICE.items():
        value = options.get(name, harmless[0])
        if value not in harmless:
            raise ConfigError(
                f"trainer.options.{name} = {value}: a job trains on one device, since DDP starts "
                "the whole command again in each process, and with -m the whole sweep; for "
                "several GPUs run one job on each: -m hydra/launcher=ray_gpu trainer=gpu"
            )


def resolved(cfg: DictConfig, keys: Sequence[str] | None = None) -> dict[str, Any]:
    """The config, or some of its keys, with every reference filled in, as plain values."""
    try:
        return {
            str(key): OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
            if OmegaConf.is_config(node := cfg[key])
            else node
            for key in (cfg if keys is None else keys)
        }
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error, "; ")) from None


def job_hash(cfg: DictConfig) -> str:
    """Hash of the science alone: data, method, seeds; not of paths, loggers or launchers.

    The method's config refers to the model, loss and trainer it uses, so that what a job does not
    use does not count. Files (a checkpoint, the data) count by their content, numbers by their
    value (0 is 0.0).
    """
    return science_hash(resolved(cfg, SCIENCE))


def science_hash(plain: dict[str, Any]) -> str:
    """The same hash, from the resolved values of the keys in `SCIENCE`."""
    science = {key: _comparable(plain[key]) for key in SCIENCE}
    # Where a job runs is not what it computes.
    science["method"].get("training", {}).pop("accelerator", None)
    science["files"] = [_digest(science.pop("ckpt")), _digest(science["data"].pop("path", None))]
    text = json.dumps(science, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _comparable(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_comparable(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest(path: str | None) -> str | None:
    if path is None:
        return None
    if not Path(path).is_file():
        return path  # refused where it is read
    status = Path(path).stat()
    return _file_digest(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _file_digest(path: str, changed: int, size: int) -> str:
    """Content of a file that has not changed since it was last asked for."""
    with Path(path).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _instantiate(cfg: DictConfig, key: str) -> Any:
    try:
        return instantiate(cfg[key], _convert_="all")
    except InstantiationException as error:
        raise ConfigError(_explain(key, error)) from None
    except ParameterError as error:
        place = _place(f"{key}.{error.name}")
        raise ConfigError(str(ParameterError(place, error.value, error.allowed))) from None
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error, "; ")) from None


def _explain(key: str, error: InstantiationException) -> str:
    """One line that names the key a user would override."""
    found = re.search(r"full_key: (\S+)", str(error))
    place = found.group(1) if found else key
    cause = error.__cause__
    while cause is not None and not isinstance(cause, ParameterError) and cause.__cause__:
        cause = cause.__cause__
    if isinstance(cause, ParameterError):
        name = _place(f"{place}.{cause.name}")
        return str(ParameterError(name, cause.value, cause.allowed))
    return f"{_place(place)}: {one_line(cause or error, '; ')}"


def _place(key: str) -> str:
    for inner, outer in _PLACES.items():
        if key == inner or key.startswith(inner + "."):
            return outer + key[len(inner) :]
    return key


def _text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise ParameterError(name, value, "a path or null")
