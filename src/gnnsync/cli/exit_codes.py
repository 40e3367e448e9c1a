"""Exit codes of the commands, and the one way in which they report errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from gnnsync.errors import GnnsyncError, one_line

BAD_INPUT, INTERRUPTED = 2, 130


def exit_code(program: str, command: Callable[[], None]) -> int:
    """Run a command: 0 on success, 2 after bad input, 130 after Ctrl-C.

    An error that the user can correct is printed as one line, `PROGRAM: message`.
    """
    try:
        command()
        sys.stdout.flush()
    except GnnsyncError as error:
        print(f"{program}: {one_line(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed it; without this, Python would report it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
