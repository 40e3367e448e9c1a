"""Signals that end a command, and workers that end with their parent. Loads nothing large.

SIGTERM (a batch system, `kill`) and SIGHUP (a terminal that is closed) end a command as Ctrl-C
does: as a `KeyboardInterrupt` in the main thread, so that whatever cleans up after Ctrl-C cleans
up after them. The exit code is 128 + the number of the signal, as shells report it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from gnnsync.experiments.exit_codes import INTERRUPTED

ENDING = (signal.SIGTERM, signal.SIGHUP)
# Seconds between two looks at whether the parent is there.
_PAUSE = 1.0
# The signal that `ending_signals` has answered.
_received: int | None = None


def exit_code_of(error: BaseException | None) -> int | None:
    """The exit code after Ctrl-C or another signal; None if neither is the cause of an error.

    Libraries may raise another error while they handle the interrupt.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    if error is None:
        return None
    # Noted apart: Ray answers whatever a handler raises with a KeyboardInterrupt of its own.
    return INTERRUPTED if _received is None else 128 + _received


@contextmanager
def ending_signals() -> Iterator[None]:
    """Raise `KeyboardInterrupt` in the main thread on SIGTERM and SIGHUP, until the block is left.

    A signal that the command was started to ignore (`nohup`) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    global _received
    _received = None
    with kept_handlers():
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _raise)
        yield


@contextmanager
def kept_handlers() -> Iterator[None]:
    """Restore the handlers of signals when the block is left; libraries set their own."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)


def end_with_parent() -> None:
    """End this process, a worker, within some seconds of the death of the one that started it.

    A parent that is killed cannot end its workers, and these would go on with their jobs. A thread
    compares the id of the parent process, which changes when the parent dies. In a process that
    `multiprocessing` has not started nothing is done.
    """
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid is None:
        return
    arguments = (parent.pid,)
    threading.Thread(target=_watch, args=arguments, name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PAUSE)
    # No clean end: other threads compute, and results are written whole or not at all.
    os._exit(128 + signal.SIGTERM)


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    global _received
    _received = number
    raise KeyboardInterrupt
