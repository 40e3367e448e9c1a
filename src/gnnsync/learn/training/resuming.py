"""Which checkpoint an interrupted training continues from: a whole and finite one, or none."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnnsync.errors import first_line
from gnnsync.learn.callbacks import LAST_CHECKPOINT

log = logging.getLogger(__name__)

# What Lightning needs to continue a training.
_NEEDED = {
    "state_dict": dict,
    "optimizer_states": list,
    "loops": dict,
    "callbacks": dict,
    "global_step": int,
}


def resume_from(folder: Path, check: Callable[[Path], object]) -> str | None:
    """The last checkpoint in a folder; None if there is none to continue from.

    One that is damaged counts as absent, with a warning: the training starts afresh.

    Args:
        folder: where the checkpoint is looked for.
        check: raises a `CheckpointError` if a whole checkpoint is of another model.
    """
    last = folder / LAST_CHECKPOINT
    if not last.exists():
        log.info("nothing to resume in %s", last)
        return None
    if (reason := damage(last)) is not None:
        log.warning("%s cannot be continued (%s): the training starts afresh", last, reason)
        return None
    check(last)
    log.info("resuming from %s", last)
    return str(last)


def damage(path: Path) -> str | None:
    """Why a training cannot continue from a checkpoint; None if it can."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file makes torch raise almost anything
        return f"it cannot be read: {first_line(error)}"
    for name, kind in _NEEDED.items():
        if not isinstance(content, dict) or not isinstance(content.get(name), kind):
            return f"it has no {name}"
    diverged = _state(content, "ReplicaStopping").get("diverged")
    may_be_nan = [bool(one) for one in diverged] if isinstance(diverged, list) else []
    best = _state(content, "BestState").get("parameters")
    for name, part in (*content.items(), ("best state", best)):
        if name in ("state_dict", "optimizer_states", "best state") and not all(
            _finite(tensor, may_be_nan) for tensor in _tensors(part)
        ):
            return f"its {name} is not finite"
    return None


def _state(content: dict[str, Any], callback: str) -> dict[str, Any]:
    """The stored state of a callback; empty if the training did not have it."""
    found = content["callbacks"].get(callback)
    return found if isinstance(found, dict) else {}


def _finite(tensor: Tensor, diverged: list[bool]) -> bool:
    """Whether a tensor is finite; the parameters of a replica that has diverged need not be."""
    if diverged and tensor.dim() and len(tensor) == len(diverged):
        tensor = tensor[~torch.tensor(diverged)]
    return bool(torch.isfinite(tensor).all())


def _tensors(tree: Any) -> Iterator[Tensor]:
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, dict | list | tuple):
        for child in tree.values() if isinstance(tree, dict) else tree:
            yield from _tensors(child)
