"""Layers and state on the replica axis: R independent models in one tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from gnnsync.errors import check_real

# Elements of dropout noise drawn at a time and replica; amortises the generator calls.
_NOISE_CHUNK = 1 << 18
# Most steps whose noise is drawn at a time: more amortise nothing further. Another number gives
# other masks, and so other results.
_NOISE_STEPS = 64
_MODULES = "replica_modules"


def replica_generators(seeds: Sequence[int]) -> list[torch.Generator]:
    """One generator per replica, so that what a replica draws does not depend on the others."""
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def xavier(parameter: Tensor, generators: Sequence[torch.Generator], gain: float) -> None:
    """Fill (R, ..., fan_in, fan_out) with Xavier uniform values, replica r from generator r."""
    fan_in, fan_out = parameter.shape[-2:]
    uniform(parameter, generators, gain * sqrt(6.0 / (fan_in + fan_out)))


def uniform(parameter: Tensor, generators: Sequence[torch.Generator], bound: float) -> None:
    """Fill (R, ...) with uniform values in ±bound, replica r from generator r."""
    with torch.no_grad():
        for row, generator in zip(parameter, generators, strict=True):
            row.copy_((2 * torch.rand(row.shape, generator=generator) - 1) * bound)


class ReplicaLinear(nn.Module):
    r"""Independent linear maps: :math:`Y_{r,c} = X_{r,c} W_{r,c} (+ b_{r,c})`.

    Shapes: X (R, C, n, in) → Y (R, C, n, out); weight (R, C, in, out), bias (R, C, 1, out).
    """

    def __init__(
        self,
        replicas: int,
        channels: int,
        in_features: int,
        out_features: int,
        bias: bool = False,
        gain: float = 1.414,
    ) -> None:
        super().__init__()
        self.gain = gain
        self.weight = nn.Parameter(torch.empty(replicas, channels, in_features, out_features))
        shape = (replicas, channels, 1, out_features)
        self.bias = nn.Parameter(torch.zeros(shape)) if bias else None

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier weights, zero bias."""
        xavier(self.weight, generators, self.gain)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(R, C, n, in) → (R, C, n, out)."""
        y = torch.bmm(x.flatten(0, 1), self.weight.flatten(0, 1)).view(*x.shape[:-1], -1)
        return y if self.bias is None else y + self.bias

    def extra_repr(self) -> str:
        """Sizes."""
        r, c, i, o = self.weight.shape
        return f"replicas={r}, channels={c}, in={i}, out={o}, bias={self.bias is not None}"


class ReplicaDropout(nn.Module):
    """Dropout whose mask is a function of (replica seed, layer, training step) alone.

    The mask of a step can be drawn anew at any time, so a resumed run continues exactly, and a
    replica drops the same units whatever the other replicas are. `step` is set by the training
    loop.
    """

    def __init__(self, probability: float, layer: int = 0) -> None:
        super().__init__()
        self.probability = check_real("dropout", probability, 0, 1, open_high=True)
        self.layer = layer
        self.step = 0
        self.seeds: list[int] = []
        self._drawn: tuple[Any, tuple[Tensor, ...]] | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Scale kept entries of x (R, ...) by 1/(1-p) while training; identity otherwise."""
        mask = self.mask(x.shape, x.dtype, x.device)
        return x if mask is None else x * mask

    def mask(self, shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor | None:
        """The factors of this step for a tensor of this shape; None if nothing is dropped."""
        if not self.training or self.probability == 0.0:
            return None
        per_step = max(shape[1:].numel(), 1)
        steps = max(1, min(_NOISE_STEPS, _NOISE_CHUNK // per_step))
        chunk, position = divmod(self.step, steps)
        key = (chunk, shape, dtype, device)
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = (key, self._draw(chunk, steps, shape, dtype).to(device).unbind())
        return self._drawn[1][position]

    def _draw(self, chunk: int, steps: int, shape: torch.Size, dtype: torch.dtype) -> Tensor:
        keep = 1.0 - self.probability
        drawn = []
        for seed in self.seeds:
            source = torch.Generator().manual_seed(_mix(seed, self.layer, chunk))
            # Comparing uniform numbers is several times faster than `bernoulli_`, and comparing
            # them in place spares large graphs several passes over the memory.
            uniform = torch.rand((steps, *shape[1:]), generator=source)
            drawn.append(uniform.lt_(keep).to(dtype).div_(keep))
        return drawn[0].unsqueeze(1) if len(drawn) == 1 else torch.stack(drawn, dim=1)

    def extra_repr(self) -> str:
        """Probability."""
        return f"p={self.probability:g}"


def prepare_replicas(module: nn.Module, seeds: Sequence[int]) -> None:
    """Draw all parameters below `module`, and give its dropout layers their seeds."""
    generators = replica_generators(seeds)
    for child in module.children():
        child.reset_parameters(generators)  # type: ignore[operator]
    for layer in module.modules():
        if isinstance(layer, ReplicaDropout):
            layer.seeds = list(seeds)


def copy_replicas(
    source: Mapping[str, Tensor], target: Mapping[str, Tensor], which: Sequence[int]
) -> None:
    """Overwrite the replicas `which` of `target` by those of `source`, in place.

    A tensor belongs to replica r as a whole if it is a parameter of the r-th of a list of plain
    modules (`replica_modules`), and by its leading axis otherwise.
    """
    for name, value in source.items():
        owner = replica_owner(name)
        if owner is not None:
            if owner in which:
                target[name].copy_(value)
        elif len(which) == len(value):
            target[name].copy_(value)
        else:
            for r in which:
                target[name][r] = value[r]


def finite_mean(losses: Tensor) -> Tensor:
    """Mean over the replicas whose loss is finite; NaN if none is."""
    return losses[torch.isfinite(losses)].mean()


def replica_owner(name: str) -> int | None:
    """The replica that a parameter of this name belongs to as a whole; None if it has an axis."""
    parts = name.split(".")
    return int(parts[parts.index(_MODULES) + 1]) if _MODULES in parts else None


def _mix(*numbers: int) -> int:
    """One seed from several (a 63-bit polynomial hash with an odd multiplier)."""
    mixed = 0
    for number in numbers:
        mixed = ((mixed ^ (number + 0x9E3779B97F4A7C15)) * 0xBF58476D1CE4E5B9) % (1 << 63)
    return mixed
