"""Reading the parameters of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnnsync.errors import CheckpointError, first_line
from gnnsync.learn.module import SyncModule


@torch.no_grad()
def load_parameters(module: SyncModule, path: str | Path) -> None:
    """Give `module` the best parameters stored in a checkpoint of the same shape, and its buffers.

    Buffers, such as the scale of a `ResidualHead`, come from the draw that the training began with.
    """
    own = dict(module.named_parameters())
    for name, value in matching_parameters(module, Path(path)).items():
        own[name].copy_(value)
    stored = torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
    for name, buffer in module.named_buffers():
        if name in stored and stored[name].shape == buffer.shape:
            buffer.copy_(stored[name])


def matching_parameters(module: SyncModule, path: Path) -> dict[str, Tensor]:
    """Best parameters stored at `path`, if they are of the same shape as those of `module`."""
    if not path.is_file():
        raise CheckpointError(f"ckpt = {path}: no such file")
    own = {name: tuple(p.shape) for name, p in module.named_parameters()}
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        stored = _parameters(content, own)
    except Exception as error:
        raise CheckpointError(
            f"ckpt = {path}: not a gnnsync checkpoint ({first_line(error)})"
        ) from None
    shapes = {name: tuple(p.shape) for name, p in stored.items()}
    if own != shapes:
        differing = sorted(set(own.items()) ^ set(shapes.items()))[0][0]
        raise CheckpointError(
            f"ckpt = {path}: of another model: {differing} has shape {shapes.get(differing)} "
            f"there and {own.get(differing)} here; use the same k, encoder, width, number of "
            "networks and trials"
        )
    for name, value in stored.items():
        if not torch.isfinite(value).all():
            raise CheckpointError(f"ckpt = {path}: {name} is not finite: train it again")
    return stored


def _parameters(content: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Tensor]:
    """Parameters of the best state so far if the checkpoint has one, else of the current state.

    The latter holds buffers as well: those whose names are not in `own` are left out.
    """
    best = content["callbacks"].get("BestState", {}).get("parameters")
    if best:
        return dict(best)
    state = {name: value for name, value in content["state_dict"].items() if name in own}
    if not state:
        raise KeyError("it holds no parameters")
    return state
