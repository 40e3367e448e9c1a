"""Checking a command before any work is done: one-line errors that name key and choices."""

from __future__ import annotations

from gnnsync.experiments.config import build
from gnnsync.experiments.hashing import job_hash
from gnnsync.experiments.loggers import make_tracker
from gnnsync.experiments.sweep.command import Command
from gnnsync.experiments.sweep.grid import Grid
from gnnsync.experiments.sweep.launchers import check_launcher
from gnnsync.io.files import writable_directory


def check_command(overrides: list[str], multirun: bool = False) -> Command:
    """Compose and build the config of a command; every value of a sweep is tried once.

    Hydra's configs must be loaded (`hydra_configs`).
    """
    command = Command.of(overrides, multirun)
    if multirun:
        check_launcher(command.first)
    for grid in command.grids:
        _check(grid)
    return command


def _check(grid: Grid) -> None:
    for point in grid.cross():
        cfg = grid.config(point)
        settings, _, _ = build(cfg)
        job_hash(cfg)
        make_tracker(cfg, writable_directory(settings.output_dir))
