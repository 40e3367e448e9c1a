"""Where the output of a job goes: `job.log` in its folder, in a sweep nowhere else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

LOG = "job.log"
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


@contextmanager
def also_logged(folder: Path) -> Iterator[None]:
    """Write log messages in the job's file as well."""
    handler = logging.FileHandler(folder / LOG, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORMAT))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


@contextmanager
def only_logged(folder: Path) -> Iterator[None]:
    """Write log messages, warnings and all that is printed in the job's file, and nowhere else.

    For jobs of a sweep, which share their terminal with the sweep and with each other.
    """
    root = logging.getLogger()
    handlers = root.handlers[:]
    with (folder / LOG).open("w", buffering=1, encoding="utf-8") as file:
        handler = logging.StreamHandler(file)
        handler.setFormatter(logging.Formatter(_FORMAT))
        root.handlers[:] = [handler]
        try:
            with redirect_stdout(file), redirect_stderr(file):
                yield
        finally:
            root.handlers[:] = handlers
