"""GNNSync-plus: the learned method with robust parts."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from gnnsync.learn.encoders import Connection
from gnnsync.learn.features import MethodFeatures
from gnnsync.learn.losses import RobustLoss
from gnnsync.learn.method import GNNSync
from gnnsync.learn.steps import Reweighted
from gnnsync.learn.training.options import Training
from gnnsync.methods import Auto


def gnnsync_plus(**changes: Any) -> GNNSync:
    """GNNSync with the parts that measured best; any of its fields can be changed.

    Features from `auto`, the connection network, reweighted steps and the robust loss; the same
    as `method=gnnsync_plus` on the command line. docs/results.md measures what each part gains.
    """
    parts: dict[str, Any] = {
        "features": MethodFeatures(Auto()),
        "encoder": Connection,
        "steps": Reweighted,
        "loss": RobustLoss(),
        "optimizer": partial(torch.optim.Adam, lr=0.01),
        "training": Training(max_steps=200, patience=50),
        "spread": 0.02,
        "correction": None,
        "separation": 0,
    }
    return GNNSync(**(parts | changes))
