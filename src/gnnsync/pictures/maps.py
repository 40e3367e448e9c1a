"""Deprecated name of `gnnsync.plots.maps`."""

from gnnsync.plots.maps import error_figure, map_figure, map_grid, pipeline_figure

__all__ = ["error_figure", "map_figure", "map_grid", "pipeline_figure"]
