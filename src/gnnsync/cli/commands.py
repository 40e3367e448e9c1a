"""The names of the commands. This module loads nothing."""

COMMANDS = ("run", "solve", "locate", "report", "list", "show", "completion")
