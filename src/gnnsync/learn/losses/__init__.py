"""Training losses, one per file. Each maps angles (R, n, k) to one value per replica (R,)."""

from gnnsync.learn.losses.combined import LinearLoss
from gnnsync.learn.losses.cycle import CycleLoss
from gnnsync.learn.losses.residual import edge_residual
from gnnsync.learn.losses.upset import UpsetLoss

__all__ = ["CycleLoss", "LinearLoss", "UpsetLoss", "edge_residual"]
