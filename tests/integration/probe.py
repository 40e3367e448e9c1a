"""A method that notes where it runs, and can wait for others or die; jobs import it by name."""

from __future__ import annotations

import os
import signal
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnnsync.methods import Trivial
from tests.integration.rendezvous import meet


@dataclass(frozen=True)
class Probe(Trivial):
    """Trivial, with a note.

    Args:
        folder: where the notes go.
        name: of this job's note.
        together: wait until so many jobs are here.
        fatal: how many times to die by SIGKILL.

    While there is a file `NAME.hold` in the folder, the job waits.
    """

    folder: str = "."
    name: str = "note"
    together: int = 1
    fatal: int = 0

    def __call__(self, graph: Any, k: int = 1, *, seed: int = 0) -> Any:
        here = Path(self.folder)
        deaths = len(list(here.glob(f"{self.name}.died.*")))
        if deaths < self.fatal:
            (here / f"{self.name}.died.{deaths}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        (here / f"{self.name}.run.{uuid.uuid4().hex}").touch()
        meet(here, self.name, self.together)
        while (here / f"{self.name}.hold").exists():
            time.sleep(0.05)
        return super().__call__(graph, k, seed=seed)
