"""Progress of a long computation, reported stage by stage through `logging`."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator

log = logging.getLogger(__name__)

# Stages that take longer are reported at level INFO, others at DEBUG: small graphs stay quiet.
_LONG_SECONDS = 1.0


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Log the beginning of a stage (DEBUG) and its end with the seconds it took."""
    log.debug("%s", name)
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    log.log(logging.INFO if seconds > _LONG_SECONDS else logging.DEBUG, "%s: %.2f s", name, seconds)
