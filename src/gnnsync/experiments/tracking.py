"""Loggers: the config that is told once, losses while they come, metrics at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from lightning import Callback, LightningModule, Trainer
from omegaconf import DictConfig

# A curve of some hundred points shows as much as one of a thousand, and costs less to send.
_LOG_EVERY = 10


def make_logger(cfg: DictConfig, directory: Path) -> Any | None:
    """The configured Lightning logger, writing in the job's folder; None if there is none."""
    if cfg.logger is None or "_target_" not in cfg.logger:
        return None
    return instantiate(cfg.logger, save_dir=str(directory), _convert_="all")


class LossLogger(Callback):
    """Send the mean losses of the steps since the last epoch to a logger."""

    def __init__(self, logger: Any) -> None:
        self.logger = logger
        self._sent = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """A resumed run has already sent its past."""
        module: Any = pl_module
        self._sent = module.step

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Every tenth step of the epoch."""
        module: Any = pl_module
        recent = module.progress.recent(self._sent)
        for step in range(self._sent, module.step):
            if (step + 1) % _LOG_EVERY == 0 or step == 0:
                losses = {f"loss/{name}": float(v[step - self._sent].mean()) for name, v in recent}
                self.logger.log_metrics(losses, step=step + 1)
        self._sent = module.step


def finish_logger(logger: Any, config: dict[str, Any], metrics: dict[str, float]) -> None:
    """Tell the resolved config and the final metrics, and close."""
    logger.log_hyperparams(config)
    logger.log_metrics(metrics)
    logger.save()
    logger.finalize("success")
