"""gnnsync: angular synchronization, classical and learned."""

from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution

__version__ = "0.1.0"

__all__ = ["MeasurementGraph", "Solution", "__version__"]
