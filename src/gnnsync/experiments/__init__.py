"""The app layer: from a config to a job, its result row and its files."""

from __future__ import annotations

import importlib
import warnings
from typing import Any


def __getattr__(name: str) -> Any:
    """`wandb_logger`: the old place of a class that configs of users name as a `_target_`."""
    if name != "wandb_logger":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = f"{__name__}.tracking.wandb_logger"
    warnings.warn(
        f"{__name__}.{name} is now {new}; the old name goes with version 0.3",
        DeprecationWarning,
        stacklevel=2,
    )
    return importlib.import_module(new)
