"""MeasurementGraph: measured offsets between pairs of nodes."""

from gnnsync.graph.measurement import MeasurementGraph

__all__ = ["MeasurementGraph"]
