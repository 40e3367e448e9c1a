"""What changes over a training: the learning rate, and the decay of the averaged weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from gnnsync.errors import check_integer, check_real


class WarmupCosine:
    """Factor of the learning rate at each step, for `torch.optim.lr_scheduler.LambdaLR`.

    It grows linearly to 1 over the warm-up and then falls to `final` along half a cosine.

    Args:
        steps: optimizer steps of the whole training.
        warmup: share of the steps in which the rate grows.
        final: factor at the end.
    """

    def __init__(self, steps: int, warmup: float = 0.02, final: float = 0.02) -> None:
        self.steps = check_integer("steps", steps, 1)
        self.warmup = check_real("warmup", warmup, 0, 1)
        self.final = check_real("final", final, 0, 1)

    def __call__(self, step: int) -> float:
        """The factor after `step` optimizer steps."""
        first = max(1.0, self.warmup * self.steps)
        grown = min(1.0, (step + 1) / first)
        part = min(1.0, step / self.steps)
        return grown * (self.final + (1.0 - self.final) * 0.5 * (1.0 + math.cos(math.pi * part)))


class WarmingAverage:
    """Exponential average of weights with a decay that grows from 0, for `WeightAveraging`.

    After t updates the decay is min(`decay`, t/(t + `warmup`)): a short training does not keep
    the weights of its start.

    Args:
        decay: of the average per update.
        warmup: updates after which the growing decay is 1/2.
    """

    def __init__(self, decay: float = 0.995, warmup: float = 5.0) -> None:
        self.decay = check_real("decay", decay, 0, 1, open_high=True)
        self.warmup = check_real("warmup", warmup, 0, open_low=True)

    def __call__(self, average: Tensor, current: Tensor, updates: Tensor | int) -> Tensor:
        """The next average, after `updates` earlier ones."""
        done = int(updates)
        decay = min(self.decay, done / (done + self.warmup))
        return torch.lerp(average, current, 1.0 - decay)
