"""The command `gnnsync`: one file per command."""

from gnnsync.cli.main import main

__all__ = ["main"]
