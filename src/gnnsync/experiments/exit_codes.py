"""Exit codes of the commands. This module loads nothing, so that `gnnsync --help` starts fast."""

FAILED = 1
"""A sweep in which a job has failed."""

BAD_INPUT = 2
"""A command that cannot run: its arguments, its config or its data are at fault."""

INTERRUPTED = 130
"""Ctrl-C; 128 + SIGINT, as shells report it."""
