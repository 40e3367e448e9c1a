"""What identifies a job: the hash of the part of its config that decides what it computes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gnnsync.errors import ConfigError, one_line

# Keys of the config that decide what a job computes.
SCIENCE = ("data", "method", "trials", "seed", "fit", "ckpt")


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
