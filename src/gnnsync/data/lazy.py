"""Names of the LightningDataModules under the modules where their networks are defined.

`gnnsync.data.datamodules` imports torch and Lightning, which take seconds to load and which no
classical method needs. Its classes are therefore loaded at first use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

DATAMODULES = "gnnsync.data.datamodules"


def lightning_names(module: str, *names: str) -> Callable[[str], Any]:
    """A module's `__getattr__` that finds these names in `gnnsync.data.datamodules`."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(DATAMODULES), name)

    return find
