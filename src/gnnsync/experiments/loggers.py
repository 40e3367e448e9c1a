"""Tracking a job: what it is told at the start, losses while they come, results at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import matplotlib.image
from hydra.core.hydra_config import HydraConfig
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig
from pytorch_lightning import Callback, LightningModule, Trainer
from pytorch_lightning.loggers import Logger

from gnnsync.errors import ConfigError, GnnsyncError

# A curve of some hundred points shows as much as one of a thousand, and costs less to send.
_LOG_EVERY, _MOST_POINTS = 10, 500


@dataclass(frozen=True)
class Card:
    """What a tracker is told when a job starts.

    Args:
        job_hash: identifies the science of the job.
        name: readable, such as `gnnsync loss=cycle, erdos_renyi, p=0.05, eta=0.6, k=2`.
        group: the sweep.
        job_type: the method.
        tags: short words to filter by.
        config: the resolved config.
    """

    job_hash: str
    name: str
    group: str
    job_type: str
    tags: tuple[str, ...]
    config: Mapping[str, Any]


@dataclass(frozen=True)
class Findings:
    """What a tracker is told when a job ends.

    Args:
        metrics: final figures by name.
        rows: one per replica.
        figures: pictures (PNG) by name.
        checkpoint: the trained parameters, if there are any.
    """

    metrics: Mapping[str, float]
    rows: list[dict[str, Any]]
    figures: Mapping[str, Path] = field(default_factory=dict)
    checkpoint: Path | None = None


class Tracker(Protocol):
    """Someone who is told about one job; made from `conf/logger/` with the job's folder."""

    def start(self, card: Card) -> None:
        """The job begins."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Losses at a step."""

    def finish(self, findings: Findings) -> None:
        """The job has succeeded."""

    def fail(self) -> None:
        """The job has raised, or was interrupted."""


@contextmanager
def tracked(cfg: DictConfig, directory: Path, card: Card) -> Iterator[Tracker | None]:
    """The configured tracker of one job, which hears of its failure as well; None if there is none.

    The job calls `finish` itself, and whatever is raised here closes the tracker as failed: no
    tracker outlives its job.
    """
    tracker = make_tracker(cfg, directory)
    if tracker is None:
        yield None
        return
    tracker.start(card)
    try:
        yield tracker
    except BaseException:
        tracker.fail()
        raise


def make_tracker(cfg: DictConfig, directory: Path) -> Tracker | None:
    """The tracker of the config, writing in the job's folder; a fault is one clear sentence."""
    if cfg.logger is None or "_target_" not in cfg.logger:
        return None
    try:
        made = instantiate(cfg.logger, save_dir=str(directory), _convert_="all")
    except InstantiationException as error:
        raise _explained(error, str(cfg.logger._target_)) from None
    return LightningTracker(made) if isinstance(made, Logger) else made


class LightningTracker:
    """Any logger of Lightning: CSV, TensorBoard, and what else speaks its interface."""

    def __init__(self, logger: Logger) -> None:
        self.logger = logger

    def start(self, card: Card) -> None:
        """Keep the resolved config."""
        self.logger.log_hyperparams(dict(card.config))

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Pass on."""
        self.logger.log_metrics(dict(values), step=step)

    def finish(self, findings: Findings) -> None:
        """Final metrics, and pictures where the logger can show them."""
        self.logger.log_metrics(dict(findings.metrics))
        add_image = getattr(getattr(self.logger, "experiment", None), "add_image", None)
        if callable(add_image):
            for name, path in findings.figures.items():
                add_image(name, matplotlib.image.imread(path)[..., :3], dataformats="HWC")
        self.logger.save()
        self.logger.finalize("success")

    def fail(self) -> None:
        """Write what there is."""
        self.logger.save()
        self.logger.finalize("failed")


class LossLogger(Callback):
    """Send losses, averaged over replicas, to a tracker: every tenth step, at most 500 points."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self._sent = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """A resumed run has already sent its past."""
        module: Any = pl_module
        self._sent = module.step
        self._every = max(_LOG_EVERY, module.max_steps // _MOST_POINTS)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """The chosen steps of this epoch."""
        module: Any = pl_module
        recent = module.progress.recent(self._sent)
        for step in range(self._sent, module.step):
            if (step + 1) % self._every == 0 or step == 0:
                losses = {f"loss/{name}": float(v[step - self._sent].mean()) for name, v in recent}
                self.tracker.log(losses, step + 1)
        self._sent = module.step


def _explained(error: InstantiationException, target: str) -> GnnsyncError:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, GnnsyncError | ImportError):
        cause = cause.__cause__
    if isinstance(cause, GnnsyncError):
        return cause
    name = target
    if HydraConfig.initialized():
        name = str(HydraConfig.get().runtime.choices.get("logger") or target)
    if isinstance(cause, ImportError):
        return missing_package(name, name.removesuffix("_offline"))
    return ConfigError(f"logger = {name}: {str(error).splitlines()[0]}")


def missing_package(logger: str, extra: str) -> ConfigError:
    """The error of a logger whose package is not installed."""
    return ConfigError(
        f"logger = {logger}: its package is not installed: pip install 'gnnsync[{extra}]', "
        "or choose logger=csv"
    )
