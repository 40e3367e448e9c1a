"""Locks on folders: one process per job, and one at a time that writes in a sweep's folder."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK = ".lock"


@contextmanager
def claim(folder: Path) -> Iterator[bool]:
    """Lock a job's folder while working in it; yields False if another process has locked it.

    The lock ends with its process, also if that is killed. On a file system without locks every
    process gets one: a job may then run twice, which costs time but no result, since results are
    written whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        free = _lock(descriptor)
        if free:
            os.utime(descriptor)
            _tidy(folder)
        yield free
    finally:
        os.close(descriptor)


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Lock a sweep's folder while writing in it; waits while another sweep writes there."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
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
        return not _lock(descriptor)
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


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
    return True
