"""The parts of `GNNSync` where none are named: those of `protocol=repaired`."""

from __future__ import annotations

from functools import partial

import torch

from gnnsync.learn.module import OptimizerFactory
from gnnsync.learn.steps import Reweighted, Steps


def default_optimizer() -> OptimizerFactory:
    """Adam with a large rate, for steps that learn their scales."""
    return partial(torch.optim.Adam, lr=0.03)


def five_steps(replicas: int) -> Steps:
    """Five reweighted steps, as many as the paper has projected gradient steps."""
    return Reweighted(replicas, count=5)
