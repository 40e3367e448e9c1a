"""The learned methods: trained on the graph they solve (GNNSync), or once on many (inductive).

The names below are loaded when they are first used: the inductive network needs torch alone, and
the others Lightning too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnnsync.errors import CheckpointError
    from gnnsync.learn.inductive.method import GNNSyncInductive
    from gnnsync.learn.method import Fitted, GNNSync
    from gnnsync.learn.paper import gnnsync_paper
    from gnnsync.learn.plus import gnnsync_plus
    from gnnsync.learn.training import Run, Training

__all__ = [
    "CheckpointError",
    "Fitted",
    "GNNSync",
    "GNNSyncInductive",
    "Run",
    "Training",
    "gnnsync_paper",
    "gnnsync_plus",
]

_HOMES = {
    "CheckpointError": "gnnsync.errors",
    "Fitted": "gnnsync.learn.method",
    "GNNSync": "gnnsync.learn.method",
    "GNNSyncInductive": "gnnsync.learn.inductive.method",
    "Run": "gnnsync.learn.training",
    "Training": "gnnsync.learn.training",
    "gnnsync_paper": "gnnsync.learn.paper",
    "gnnsync_plus": "gnnsync.learn.plus",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gnnsync.learn' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
