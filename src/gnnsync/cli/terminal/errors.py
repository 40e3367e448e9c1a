"""How commands report errors: in one line, and by their exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from gnnsync.errors import GnnsyncError, one_line
from gnnsync.experiments.exit_codes import BAD_INPUT, INTERRUPTED
from gnnsync.experiments.signals import exit_code_of


def exit_code(program: str, command: Callable[[], None]) -> int:
    """Run a command: 0 on success, 2 after bad input, 128 + its number after a signal.

    An error that the user can correct is printed as one line, `PROGRAM: message`.
    """
    try:
        command()
        sys.stdout.flush()
    except GnnsyncError as error:
        print(f"{program}: {one_line(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt as interrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return exit_code_of(interrupt) or INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed it; without this, Python would report it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
