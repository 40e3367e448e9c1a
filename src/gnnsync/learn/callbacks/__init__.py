"""Lightning callbacks for training on the replica axis, one idea per file."""

from gnnsync.learn.callbacks.base import InnerStep, ReplicaCallback
from gnnsync.learn.callbacks.best import BestState
from gnnsync.learn.callbacks.checkpoint import FINAL_CHECKPOINT, LAST_CHECKPOINT, JobCheckpoint
from gnnsync.learn.callbacks.gradient_clipping import ReplicaGradientClipping
from gnnsync.learn.callbacks.history import History
from gnnsync.learn.callbacks.loss_curve import LossCurve
from gnnsync.learn.callbacks.memory import KeepFreedMemory
from gnnsync.learn.callbacks.profile import ProfileReport
from gnnsync.learn.callbacks.progress import StepProgress
from gnnsync.learn.callbacks.stopping import ReplicaStopping

__all__ = [
    "FINAL_CHECKPOINT",
    "LAST_CHECKPOINT",
    "BestState",
    "History",
    "InnerStep",
    "JobCheckpoint",
    "KeepFreedMemory",
    "LossCurve",
    "ProfileReport",
    "ReplicaCallback",
    "ReplicaGradientClipping",
    "ReplicaStopping",
    "StepProgress",
]
