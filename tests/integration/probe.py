"""A method that notes where it runs, and can wait for others or die; jobs import it by name."""

from __future__ import annotations

import os
import signal
import time
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
        fatal: die by SIGKILL the first time.

    While there is a file `NAME.hold` in the folder, the job waits.
    """

    folder: str = "."
    name: str = "note"
    together: int = 1
    fatal: bool = False

    def __call__(self, graph: Any, k: int = 1, *, seed: int = 0) -> Any:
        here = Path(self.folder)
        died_before = (here / f"{self.name}.died").exists()
        if self.fatal and not died_before:
            (here / f"{self.name}.died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        meet(here, self.name, self.together)
        while (here / f"{self.name}.hold").exists():
            time.sleep(0.05)
        return super().__call__(graph, k, seed=seed)
