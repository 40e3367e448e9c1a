"""Training steps on a device that holds no data, where every tensor elsewhere is an error.

A GPU refuses to compute with a tensor that was left on the CPU, and copies to and from it make a
training wait. The device `meta` refuses the same, on any machine, and what is made or copied
elsewhere within `OneDevice` is refused too.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_SPARSE = (torch.sparse_csr, torch.sparse_coo)
_PRODUCTS = {torch.ops.aten.mm.default, torch.ops.aten.mv.default}


class OneDevice(TorchDispatchMode):
    """Refuses tensors on other devices; numbers without dimensions may be on the CPU.

    Args:
        device: the only one.
        strict: whether others are refused.
    """

    def __init__(self, device: str, *, strict: bool = True) -> None:
        super().__init__()
        self.strict = strict
        self.kind = torch.device(device).type

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._check(func, (args, kwargs), "used")
        found = self._without_data(func, args, kwargs)
        found = func(*args, **(kwargs or {})) if found is None else found
        self._check(func, found, "made")
        return found

    def _check(self, func: Any, tree: Any, what: str) -> None:
        for leaf in tree_leaves(tree) if self.strict else ():
            if isinstance(leaf, Tensor) and leaf.device.type != self.kind and leaf.dim():
                shape = tuple(leaf.shape)
                raise AssertionError(f"{func}: a tensor {shape} on {leaf.device} is {what}")

    def _without_data(self, func: Any, args: Any, kwargs: Any) -> Tensor | None:
        """The results of operators that have no implementation without data."""
        if self.kind != "meta":
            return None
        if func in _PRODUCTS and args[0].layout in _SPARSE:
            return args[1].new_empty((args[0].shape[0], *args[1].shape[1:]))
        if func is torch.ops.aten.bincount.default:
            return args[0].new_empty((kwargs or {}).get("minlength", args[-1]))
        chosen = args[1][0] if func is torch.ops.aten.index.Tensor else None
        if chosen is not None and chosen.dtype == torch.bool:
            return torch.empty_like(args[0])  # as if all were chosen
        return None
