"""gnnsync: angular synchronization, classical and learned."""

from gnnsync.graph import MeasurementGraph
from gnnsync.io import read, write
from gnnsync.solution import Solution
from gnnsync.solve import solve

__version__ = "0.1.0"

__all__ = ["MeasurementGraph", "Solution", "__version__", "read", "solve", "write"]
