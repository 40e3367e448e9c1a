"""The learned method: features → encoder → head → steps → loss."""

from gnnsync.learn.method import Fitted, GNNSync
from gnnsync.learn.plus import gnnsync_plus
from gnnsync.learn.training import Run, Training
from gnnsync.learn.training.checkpoint import CheckpointError

__all__ = ["CheckpointError", "Fitted", "GNNSync", "Run", "Training", "gnnsync_plus"]
