"""What identifies a job: a hash of its config, and a folder with a name that ends in it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gnnsync.errors import ConfigError
from gnnsync.experiments.config.explain import explain_value
from gnnsync.experiments.paths import sweep_name
from gnnsync.methods import METHODS

# Keys of the config that decide what a job computes.
SCIENCE = ("data", "method", "trials", "seed", "fit", "ckpt", "either_sign")

# Callbacks that only watch: they change no result, and do not enter the hash. All others do, such
# as EarlyStopping and Timer, which end a training.
WATCHING_CALLBACKS = frozenset(
    f"{package}.{name}"
    for package, names in (
        (
            "gnnsync.learn.callbacks",
            "JobCheckpoint KeepFreedMemory LossCurve ProfileReport StepProgress",
        ),
        ("gnnsync.learn.inductive.training.callbacks", "TrainingCheckpoint TrainingProgress"),
        *(
            (
                package,
                "DeviceStatsMonitor LearningRateMonitor ModelCheckpoint ModelSummary "
                "OnExceptionCheckpoint RichModelSummary RichProgressBar TQDMProgressBar "
                "ThroughputMonitor",
            )
            for package in ("pytorch_lightning.callbacks", "lightning.pytorch.callbacks")
        ),
    )
    for name in names.split()
)

# Options that methods and data gained later, with the value that changes nothing: a job that leaves
# them there has the hash that it had before, and is not run again.
_GAINED = {"correction": None, "separation": 0, "competition": 1, "known_patches": False}

# Characters of a job's hash in the name of its folder. Jobs with the same words before the hash
# are at most some hundred: two of them share 8 hexadecimal digits with probability about 1e-5.
_SHORT = 8
# Longest part of a folder's name before the hash; file systems allow 255 bytes in all.
_LONGEST = 80
# Names of the random graphs in `conf/data/`.
_GRAPHS = {"erdos_renyi": "ero", "barabasi_albert": "bao", "random_geometric": "rggo"}
# Parameters of the data that a folder's name states: its letters, the key, the value left out.
_STATED = (("p", "p", None), ("eta", "eta", None), ("k", "k", 1), ("sigma", "inlier_noise", 0))


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
        raise ConfigError(explain_value(error)) from None


def job_hash(cfg: DictConfig) -> str:
    """Hash of the science alone: data, method, seeds; not of paths, loggers or launchers.

    Nor of the accelerator, nor of callbacks that only watch (`WATCHING_CALLBACKS`).

    The method's config refers to the model, loss and trainer it uses, so that what a job does not
    use does not count. Files (a checkpoint, the data) count by their content, numbers by their
    value (0 is 0.0).
    """
    return science_hash(resolved(cfg, SCIENCE))


def science_hash(plain: dict[str, Any]) -> str:
    """The same hash, from the resolved values of the keys in `SCIENCE`."""
    science = {key: _comparable(plain[key]) for key in SCIENCE}
    science["method"] = _without_gained(computing(science["method"]))
    science["data"] = _without_gained(science["data"])
    if not science["either_sign"]:  # a job that scores angles as they are has the hash of old
        del science["either_sign"]
    science["files"] = [_digest(science.pop("ckpt")), _digest(science["data"].pop("path", None))]
    text = json.dumps(science, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def computing(method: dict[str, Any]) -> dict[str, Any]:
    """A method's resolved config without the parts that do not change what it computes."""
    kept = dict(method)
    if isinstance(kept.get("trainer"), dict):  # where a job runs is not what it computes
        kept["trainer"] = {k: v for k, v in kept["trainer"].items() if k != "accelerator"}
    if isinstance(kept.get("callbacks"), dict):
        kept["callbacks"] = {k: v for k, v in kept["callbacks"].items() if not _watches(v)}
    return kept


def _watches(callback: Any) -> bool:
    """Whether a callback only watches, or its entry has no class and so makes none."""
    target = callback.get("_target_") if isinstance(callback, dict) else None
    return target is None or target in WATCHING_CALLBACKS


def job_folder(cfg: DictConfig) -> Path:
    """The folder of a config's job: `output_dir/sweep/WORDS-HASH`."""
    return Path(str(cfg.output_dir)) / sweep_name(cfg.sweep) / job_name(resolved(cfg, SCIENCE))


def job_name(plain: dict[str, Any], digest: str | None = None) -> str:
    """Name of a job's folder, such as `gnnsync-ero-p0.15-eta0.8-1a2b3c4d`.

    The words are the method, the data, and of the data p, eta, k (if > 1) and the noise of inliers
    sigma (if > 0); the hash makes the name unique.

    Args:
        plain: resolved values of at least the keys in `SCIENCE`.
        digest: the job's hash, if it is known.
    """
    method, data = plain["method"], plain["data"]
    words = [method_name(str(method.get("_target_"))), _data_name(data), *_stated(data)]
    text = re.sub(r"[^A-Za-z0-9_.+-]+", "_", "-".join(words))[:_LONGEST]
    return f"{text}-{(digest or science_hash(plain))[:_SHORT]}"


def method_name(target: str) -> str:
    """The name of a method's class in `METHODS`, or that of any other class in lower case."""
    name = target.rpartition(".")[2]
    known = {kind.__name__: method for method, kind in METHODS.items()}
    return known.get(name, name.lower())


def _data_name(data: dict[str, Any]) -> str:
    """The random graph, the point cloud, or else the class of the data module."""
    graph, points = data.get("measurement"), data.get("points")
    if isinstance(graph, dict):
        name = str(graph.get("path", graph.get("_target_"))).rpartition(".")[2]
        return _GRAPHS.get(name, name)
    if isinstance(points, dict) and data.get("path"):
        return Path(str(data["path"])).stem
    if isinstance(points, dict):
        return str(points.get("text") or _snake(str(points.get("_target_")))).lower()
    return _snake(str(data.get("_target_"))).removesuffix("_data_module").removesuffix("_networks")


def _snake(target: str) -> str:
    """`us_cities` for `package.USCities`; a constructor (`Class.from_file`) counts as its class."""
    names = [name for name in target.split(".") if name[:1].isupper()] or [target]
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", names[-1]).lower()


def _stated(data: dict[str, Any]) -> Iterator[str]:
    for letters, key, usual in _STATED:
        value = data.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and value != usual:
            yield f"{letters}{value:g}"


def _without_gained(value: Any) -> Any:
    """The value without the options of `_GAINED`, at any depth, that change nothing."""
    if not isinstance(value, dict):
        return value
    return {
        key: _without_gained(child)
        for key, child in value.items()
        if key not in _GAINED or child != _GAINED[key]
    }


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
