"""Solution: the estimated angles that every method returns, its summary, tables and conflicts."""

from gnnsync.solution.solution import NODE_TOLERANCE, Solution, find_node
from gnnsync.solution.summary import (
    ANGLE_FIGURES,
    QUANTILES,
    SURE,
    WORST_EDGES,
    plain_name,
    summarize,
    worst_edges,
)

__all__ = [
    "ANGLE_FIGURES",
    "NODE_TOLERANCE",
    "QUANTILES",
    "SURE",
    "WORST_EDGES",
    "Solution",
    "find_node",
    "plain_name",
    "summarize",
    "worst_edges",
]
