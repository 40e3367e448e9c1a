"""Running Lightning: the Trainer, what it loads, its checkpoints, and short options for Python."""

from gnnsync.errors import CheckpointError
from gnnsync.learn.training.checkpoint import load_parameters
from gnnsync.learn.training.options import Run, Training

__all__ = ["CheckpointError", "Run", "Training", "load_parameters"]
