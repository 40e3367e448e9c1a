"""Locks on folders: one process per job, and one at a time that writes in a sweep's folder."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK = ".lock"
# A look at a lock (`claimed`) holds it for a moment: seconds after which it is another process's.
_PATIENCE, _PAUSE = 0.3, 0.02


@contextmanager
def claim(folder: Path) -> Iterator[bool]:
    """Lock a job's folder while working in it; yields False if another process has locked it.

    The lock ends with its process, also if that is killed. On a file system without locks every
    process gets one: a job may then run twice, which costs time but no result, since results are
    written whole.
    """
    descriptor = _opened(folder)
    try:
        end = time.monotonic() + _PATIENCE
        while not (free := _lock(descriptor)) and time.monotonic() < end:
            time.sleep(_PAUSE)
        while free and not _in_place(descriptor, folder):
            # A job that was refused has removed its folder in between, and the lock with it.
            os.close(descriptor)
            descriptor = _opened(folder)
            free = _lock(descriptor)
        if free:
            _sign(descriptor)
            _tidy(folder)
        yield free
    finally:
        os.close(descriptor)


def holder(folder: Path) -> str:
    """Who has locked a folder, in words: `process 4711 on HOST`."""
    try:
        pid, host = (folder / LOCK).read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return "another process"
    return f"process {pid} on {host}"


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Lock a sweep's folder while writing in it; waits while another sweep writes there."""
    descriptor = _opened(folder)
    try:
        # On a file system without locks two sweeps may write at once: the last one's files stay.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _tidy(folder)
        yield
    finally:
        os.close(descriptor)


def claimed(folder: Path) -> bool:
    """Whether a running process has locked the folder."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def last_claimed(folder: Path) -> float:
    """When the folder was last locked, in seconds since the epoch; 0 if never."""
    try:
        return (folder / LOCK).stat().st_mtime
    except OSError:
        return 0.0


def _tidy(folder: Path) -> None:
    """Remove what a process left half-written when it was killed."""
    for pattern in (".*.tmp", "*.partial"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def _opened(folder: Path) -> int:
    """The lock file of a folder; both are made if they are not there."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # a job that was refused has just removed the folder
            return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)


def _in_place(descriptor: int, folder: Path) -> bool:
    """Whether an open lock file is that of the folder, and not one that has been removed."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(folder / LOCK))
    except OSError:
        return False


def _sign(descriptor: int) -> None:
    """Note the time and the process that has the lock, for `last_claimed` and `holder`."""
    os.utime(descriptor)
    with suppress(OSError):  # a full disk
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)


def _lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
    return True
