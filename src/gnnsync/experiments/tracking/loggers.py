"""The Lightning loggers of a job: made from the config, given its results, closed at its end.

A method that trains gets its loggers through the Trainer. A classical method has no curve, and all
that a CSV file could hold of it is in `result.json`; so that its job loads neither Lightning nor
torch, `CSVLogger`s are made only for methods that train. Every other logger is made for both.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig

from gnnsync.errors import ConfigError, GnnsyncError, first_line
from gnnsync.experiments.config.moved_keys import moved
from gnnsync.experiments.tracking.secrets import Secrets
from gnnsync.methods.base import Method, ReplicaMethod

if TYPE_CHECKING:
    from pytorch_lightning.loggers import Logger

log = logging.getLogger(__name__)

_FOR_TRAINING_ONLY = ("pytorch_lightning.loggers.CSVLogger", "lightning.pytorch.loggers.CSVLogger")
# Packages that are not part of the plain install, and the extra that has them.
_EXTRAS = {"tensorboard": "'gnnsync[tensorboard]'"}


@contextmanager
def opened_loggers(
    cfg: DictConfig, directory: Path, method: Method, hyperparameters: Mapping[str, Any]
) -> Iterator[list[Logger]]:
    """The configured loggers of one job, closed as failed if it raises.

    All are closed whatever one of them raises. If the job has failed, its own error comes out, and
    those of loggers are logged.

    Args:
        cfg: the composed config; `cfg.logger` is a dictionary of loggers by name.
        directory: the job's folder, given to every logger as `save_dir`.
        method: what the job runs.
        hyperparameters: the resolved config, and under `job` its name, group, method, tags and
            hash.
    """
    loggers = make_loggers(cfg, directory, method)
    try:
        for logger in loggers:
            logger.log_hyperparams(dict(hyperparameters))
        yield loggers
    except BaseException:
        for error in _close(loggers, "failed"):
            log.warning("a logger could not be closed: %s", first_line(error))
        raise
    for error in _close(loggers, "success"):
        raise error


def make_loggers(cfg: DictConfig, directory: Path, method: Method) -> list[Logger]:
    """The loggers of the config, writing in the job's folder; a fault is one clear sentence."""
    made = []
    for name, node in (cfg.logger or {}).items():
        if node is None:
            continue
        if not isinstance(node, DictConfig) or "_target_" not in node:
            hint = moved(f"logger.{name}")
            raise ConfigError(hint or f"logger.{name}: must be a logger with a _target_")
        if node._target_ in _FOR_TRAINING_ONLY and not isinstance(method, ReplicaMethod):
            continue
        try:
            made.append(instantiate(node, save_dir=str(directory), _convert_="all"))
        except InstantiationException as error:
            raise _explained(error, str(name), Secrets.of(cfg)) from None
    return made


def log_results(
    loggers: Sequence[Logger],
    metrics: Mapping[str, float],
    rows: list[dict[str, Any]],
    figures: Mapping[str, Path],
) -> None:
    """Final metrics for all loggers; rows and figures for those that can show them.

    Tables and images go to loggers with `log_table` and `log_image` (Weights & Biases), images
    also to those whose experiment has `add_image` (TensorBoard).
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = [[row.get(name) for name in columns] for row in rows]
    for logger in loggers:
        logger.log_metrics(dict(metrics))
        if hasattr(logger, "log_table"):
            logger.log_table("replicas", columns=columns, data=table)
        add_image = getattr(getattr(logger, "experiment", None), "add_image", None)
        for name, path in figures.items():
            if hasattr(logger, "log_image"):
                logger.log_image(f"figures/{name}", [str(path)])
            elif callable(add_image):
                add_image(name, _pixels(path), dataformats="HWC")


def _pixels(path: Path) -> Any:
    import matplotlib.image  # only TensorBoard needs it

    return matplotlib.image.imread(path)[..., :3]


def _close(loggers: Sequence[Logger], status: str) -> list[Exception]:
    """Save and close every logger; returns what they raised."""
    errors = []
    for logger in loggers:
        # The Trainer finalizes its loggers after every fit, test and predict; a logger whose run
        # must stay open until the job ends has `close` for that.
        close = getattr(logger, "close", logger.finalize)
        for action in (logger.save, partial(close, status)):
            try:
                action()
            except Exception as error:
                errors.append(error)
    return errors


def _explained(error: InstantiationException, name: str, secrets: Secrets) -> GnnsyncError:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, GnnsyncError | ImportError):
        cause = cause.__cause__
    if isinstance(cause, GnnsyncError):
        return ConfigError(secrets.masked(str(cause)))
    if isinstance(cause, ImportError):
        package = _EXTRAS.get(name, name)
        return ConfigError(
            f"logger.{name}: its package is not installed: pip install {package}, "
            "or choose logger=csv"
        )
    return ConfigError(f"logger.{name}: {secrets.masked(first_line(error))}")
