"""The learned method: features → encoder → head → steps → loss."""

from gnnsync.learn.method import Fitted, GNNSync
from gnnsync.learn.training import Run, Training

__all__ = ["Fitted", "GNNSync", "Run", "Training"]
