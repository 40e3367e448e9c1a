"""A process that ends what another process has started, once that one is gone. Linux.

Ray starts daemons and workers of its own, which notice the end of the command that started them
late: workers that are just being loaded, and agents, live on for up to a minute. The command
therefore starts a guard. The guard waits at a pipe that the kernel closes when the command ends,
however it ends, then kills every process that has inherited the command's mark. The mark is a
variable of the environment, which children and their children have as well.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

MARK = "GNNSYNC_STARTED_BY"
# Seconds for which new processes are looked for: one that is killed may have just started another.
_ROUNDS, _PAUSE = 10, 0.3
_PROCESSES = Path("/proc")

_guard: subprocess.Popen[bytes] | None = None


def guard_children() -> None:
    """Have all processes that are started from now on ended when this one has ended.

    The guard is started once. Where there is no `/proc`, nothing is done.
    """
    global _guard
    if _guard is not None or not (_PROCESSES / "self" / "environ").exists():
        return
    command = [sys.executable, "-P", "-m", __name__, str(os.getpid())]
    mark = uuid.uuid4().hex
    # A session of its own: Ctrl-C, and a kill of the whole process group, do not reach it.
    _guard = subprocess.Popen([*command, mark], stdin=subprocess.PIPE, start_new_session=True)
    os.environ[MARK] = mark
    # `setproctitle`, by which Ray names its processes, otherwise overwrites their environment.
    os.environ["SPT_NOENV"] = "1"


def main(arguments: list[str]) -> None:
    """Wait until the standard input is closed, then kill all processes with the mark."""
    starter, mark = int(arguments[0]), arguments[1]
    sys.stdin.buffer.read()
    for _ in range(_ROUNDS):
        for pid in _marked(mark):
            # The starter may be on its last lines.
            if pid not in (starter, os.getpid()):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _marked(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in _PROCESSES.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has ended, or is another user's
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
