"""Deprecated name of `gnnsync.plots.solution`."""

from gnnsync.plots.solution import solution_figure

__all__ = ["solution_figure"]
