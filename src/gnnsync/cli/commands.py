"""The names of the commands. This module loads nothing."""

COMMANDS = ("run", "solve", "report", "list", "show", "completion")
