"""Where the output of a job goes: `job.log` in its folder, in a sweep nowhere else."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from gnnsync.experiments.tracking.secrets import MaskedStream, MaskingFilter, Secrets

LOG = "job.log"
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


@contextmanager
def also_logged(folder: Path, secrets: Secrets) -> Iterator[None]:
    """Write log messages in the job's file as well; secrets are masked, also in what is printed."""
    root = logging.getLogger()
    handler = logging.FileHandler(folder / LOG, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORMAT))
    masking = MaskingFilter(secrets)
    handlers = [handler, *root.handlers]
    root.addHandler(handler)
    for each in handlers:
        each.addFilter(masking)
    out: Any = MaskedStream(sys.stdout, secrets) if secrets.values else sys.stdout
    try:
        with redirect_stdout(out):
            yield
    finally:
        root.removeHandler(handler)
        for each in handlers:
            each.removeFilter(masking)
        handler.close()


@contextmanager
def only_logged(folder: Path, secrets: Secrets) -> Iterator[None]:
    """Write log messages, warnings and all that is printed in the job's file, and nowhere else.

    Secrets are masked. For jobs of a sweep, which share their terminal with the sweep and with
    each other.
    """
    root = logging.getLogger()
    handlers = root.handlers[:]
    with (folder / LOG).open("w", buffering=1, encoding="utf-8") as opened:
        file: Any = MaskedStream(opened, secrets)
        handler = logging.StreamHandler(file)
        handler.setFormatter(logging.Formatter(_FORMAT))
        root.handlers[:] = [handler]
        try:
            with redirect_stdout(file), redirect_stderr(file):
                yield
        finally:
            root.handlers[:] = handlers
