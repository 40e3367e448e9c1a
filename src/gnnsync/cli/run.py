"""`gnnsync run`: the Hydra application. `gnnsync.cli.main` starts it in a process of its own.

Hydra loads within `main`, so that Ctrl-C is answered in one line from the start.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from gnnsync.experiments.exit_codes import BAD_INPUT
from gnnsync.experiments.signals import ENDING, ending_signals, exit_code_of, kept_handlers

PROGRAM = "gnnsync run"
_INTERRUPTED_LINE = "gnnsync: interrupted; finished results are kept"


def main() -> int:
    """Run the job, or with `-m` the sweep, of this process's arguments; returns the exit code."""
    try:
        with kept_handlers():
            # A KeyboardInterrupt within an import can be swallowed by a library; nothing is under
            # way yet.
            for number in (signal.SIGINT, *ENDING):
                if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGINT:
                    signal.signal(number, _leave)
            # `start_run` has blocked them, so that a signal waits until it can be answered.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *ENDING})
            return _answer(sys.argv[1:])
    except BaseException as error:
        code = exit_code_of(error)
        if code is None:
            raise
        print(_INTERRUPTED_LINE, file=sys.stderr)
        return code


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Ctrl-C or another signal while libraries load: one line, and the end."""
    os.write(sys.stderr.fileno(), f"{_INTERRUPTED_LINE}\n".encode())
    os._exit(128 + number)


def _answer(arguments: list[str]) -> int:
    # Loads YAML and NumPy; Ctrl-C is caught from here on.
    from gnnsync.cli.terminal.errors import exit_code
    from gnnsync.errors import GnnsyncError
    from gnnsync.experiments.config.arguments import (
        asks_for_help,
        check_arguments,
        help_text,
        in_order,
    )

    try:
        if "--shell-completion" in arguments or "-sc" in arguments:
            # Loads what answers a query.
            from gnnsync.cli.completion import shell_script

            if (script := shell_script(arguments)) is not None:
                return exit_code("gnnsync", lambda: print(script))
        if asks_for_help(arguments):
            text = help_text(arguments)
            return exit_code("gnnsync", lambda: print(text))
        check_arguments(arguments)
    except GnnsyncError as error:
        print(f"gnnsync: {error}", file=sys.stderr)
        return BAD_INPUT
    sys.argv[1:] = in_order(arguments)  # where Hydra reads them
    return _hydra(sys.argv[1:])


def _hydra(arguments: list[str]) -> int:
    # Hydra takes longer to load than a wrong option needs to be answered.
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from gnnsync.errors import GnnsyncError
    from gnnsync.experiments.app import task
    from gnnsync.experiments.config.explain import explain_command
    from gnnsync.experiments.paths import conf_dir
    from gnnsync.experiments.tracking.printed import without_secrets
    from gnnsync.experiments.tracking.secrets import Secrets

    # Documented by Hydra: exceptions leave it as they are, and become one line here.
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")
    application = hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with ending_signals(), without_secrets(arguments):
            application(task)()
    except (GnnsyncError, HydraException, OmegaConfBaseException) as error:
        told = Secrets.in_arguments(arguments).masked(explain_command(error, arguments))
        print(f"gnnsync: {told}", file=sys.stderr)
        return BAD_INPUT
    return 0


if __name__ == "__main__":
    # Hydra names the command in its own help, and should name the one that was typed.
    sys.argv[0] = PROGRAM
    sys.exit(main())
