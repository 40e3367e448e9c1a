"""Deprecated name of `gnnsync.plots.maps`."""

from gnnsync.plots.maps import FOUND, TRUE, error_figure, map_figure, map_grid, pipeline_figure

__all__ = ["FOUND", "TRUE", "error_figure", "map_figure", "map_grid", "pipeline_figure"]
