"""Checking a composed config and building what it names."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gnnsync.data.base import Networks
from gnnsync.errors import (
    ConfigError,
    ParameterError,
    check_bool,
    check_integer,
    one_line,
)
from gnnsync.experiments.config.devices import check_device_count
from gnnsync.experiments.config.explain import explain_value
from gnnsync.experiments.config.moved_keys import refuse_moved_keys
from gnnsync.experiments.paths import sweep_name
from gnnsync.methods import METHODS
from gnnsync.methods.anchoring.held import takes_anchors
from gnnsync.methods.base import Method

# Where a user finds the parts that the method's config only refers to.
_PLACES = {
    "method.features": "model.features",
    "method.encoder": "model.encoder",
    "method.steps": "model.steps",
    "method.loss": "loss",
    "method.optimizer": "optimizer",
    "method.scheduler": "scheduler",
    "method.trainer": "trainer",
    "method.callbacks": "callbacks",
    "method.anchors": "anchors",
    "method.stream": "stream",
    "data.angles": "prior",
}

# Parts of a network that need torch but not Lightning.
_LIGHT_PARTS = ("model.features", "model.encoder", "model.steps", "loss")


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
    either_sign: bool
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
            either_sign=check_bool("either_sign", cfg.either_sign),
            output_dir=Path(str(cfg.output_dir)),
            sweep=sweep_name(cfg.sweep),
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


def build(cfg: DictConfig) -> tuple[Settings, Networks, Method]:
    """Settings, data and method of a config; any fault is a one-line `ConfigError`."""
    try:
        settings = Settings.of(cfg)
    except ParameterError as error:
        raise ConfigError(str(error)) from None
    refuse_moved_keys(cfg)
    data = _instantiate(cfg, "data")
    _check_light_parts(cfg)
    method = _instantiate(cfg, "method")
    _check_anchors(cfg, method)
    check_device_count(cfg, several=getattr(method, "several_devices", False))
    if not isinstance(data, Networks):
        raise ConfigError(f"data = {cfg.data._target_}: must be a gnnsync.data.Networks")
    if not callable(method):
        raise ConfigError(f"method = {cfg.method._target_}: must be a gnnsync method")
    if data.k > 1 and not getattr(method, "any_k", False):
        name = getattr(method, "name", cfg.method._target_)
        several = ", ".join(kind.name for kind in METHODS.values() if kind.any_k)
        raise ConfigError(
            f"data.k = {data.k}: method={name} solves k = 1 only; for k > 1 use gnnsync, {several}"
        )
    return settings, data, method


def _check_anchors(cfg: DictConfig, method: Method) -> None:
    """Refuse anchors that the method would not get."""
    chosen = OmegaConf.select(cfg, "anchors._target_")
    if chosen is None or str(chosen).endswith(".NoAnchors") or takes_anchors(method):
        return
    raise ConfigError(
        f"anchors = {chosen}: {cfg.method._target_} has none of its own; use method=anchored "
        f"method.method._target_={cfg.method._target_}"
    )


def _check_light_parts(cfg: DictConfig) -> None:
    """Build the parts that the method refers to and that load in a second, before the method.

    A wrong value in them is then found without Lightning, which takes two seconds to load.
    """
    raw = OmegaConf.to_container(cfg.method, resolve=False)
    assert isinstance(raw, dict)
    for place in _LIGHT_PARTS:
        if f"${{{place}}}" in raw.values():
            _instantiate(cfg, place)


def _instantiate(cfg: DictConfig, key: str) -> Any:
    try:
        # A copy: Hydra resolves references in place, also in the parts that are referred to.
        return instantiate(OmegaConf.select(copy.deepcopy(cfg), key), _convert_="all")
    except InstantiationException as error:
        raise ConfigError(_explain(key, error)) from None
    except ParameterError as error:
        place = _place(f"{key}.{error.name}")
        raise ConfigError(str(ParameterError(place, error.value, error.allowed))) from None
    except OmegaConfBaseException as error:
        raise ConfigError(explain_value(error)) from None


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
