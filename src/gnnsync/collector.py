"""Making many lasting objects without the garbage collector looking through them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Collect no garbage meanwhile.

    Imports and large JSON files make a great many objects and no garbage; looking through all of
    them again and again takes a seventh to a half of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
