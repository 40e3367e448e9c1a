"""Training losses, one per file. Each maps angles (R, n, k) to one value per replica (R,)."""

from gnnsync.learn.losses.calibrated import Calibrated
from gnnsync.learn.losses.combined import LinearLoss
from gnnsync.learn.losses.consistency import ConsistencyLoss
from gnnsync.learn.losses.cycle import CycleLoss
from gnnsync.learn.losses.default import DefaultLoss
from gnnsync.learn.losses.residual import replica_residual
from gnnsync.learn.losses.robust import RobustLoss
from gnnsync.learn.losses.upset import UpsetLoss

__all__ = [
    "Calibrated",
    "ConsistencyLoss",
    "CycleLoss",
    "DefaultLoss",
    "LinearLoss",
    "RobustLoss",
    "UpsetLoss",
    "replica_residual",
]
