"""GNNSync as the paper has it."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from gnnsync.learn.encoders import DIMPA
from gnnsync.learn.features import MethodFeatures
from gnnsync.learn.losses import DefaultLoss
from gnnsync.learn.method import GNNSync
from gnnsync.learn.steps import ProjectedGradient
from gnnsync.learn.training.options import Training
from gnnsync.methods import SpectralRN


def gnnsync_paper(**changes: Any) -> GNNSync:
    """GNNSync as in He et al. (ICLR 2024), to the letter; any of its fields can be changed.

    The same as `protocol=paper` on the command line; docs/fidelity.md has what `GNNSync()` changes.
    """
    parts: dict[str, Any] = {
        "features": MethodFeatures(SpectralRN(), centred=False),
        "encoder": partial(DIMPA, slices="contiguous", head_start="linear"),
        "steps": ProjectedGradient,
        "loss": DefaultLoss(several="cycle", norm="frobenius"),
        "optimizer": partial(torch.optim.SGD, lr=0.005, weight_decay=5e-4, fused=True),
        "training": Training(max_steps=1000, patience=200, eval_every=1),
        "spread": None,
        "correction": None,
        "separation": 0,
    }
    return GNNSync(**(parts | changes))
