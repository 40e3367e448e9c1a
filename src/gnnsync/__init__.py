"""gnnsync: angular synchronization, classical and learned.

The names below are loaded when they are first used, so that a command that needs none of them
(`gnnsync --help`) starts without NumPy and SciPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Functions and their modules share these names. The modules are loaded now, so that a later import
# of one does not replace the function.
from gnnsync.locate import locate
from gnnsync.solve import solve, solve_poses

if TYPE_CHECKING:
    from gnnsync.distance_network import DistanceNetwork
    from gnnsync.graph import MeasurementGraph
    from gnnsync.io import (
        as_distances,
        as_graph,
        read,
        read_distances,
        read_poses,
        write,
        write_poses,
    )
    from gnnsync.methods.robust.second_set import find_second_set
    from gnnsync.pose_graph import PoseGraph, PoseSolution
    from gnnsync.positions import Positions
    from gnnsync.solution import Solution

__version__ = "0.2.0"

__all__ = [
    "DistanceNetwork",
    "MeasurementGraph",
    "PoseGraph",
    "PoseSolution",
    "Positions",
    "Solution",
    "__version__",
    "as_distances",
    "as_graph",
    "find_second_set",
    "locate",
    "read",
    "read_distances",
    "read_poses",
    "solve",
    "solve_poses",
    "write",
    "write_poses",
]

_HOMES = {
    "DistanceNetwork": "gnnsync.distance_network",
    "MeasurementGraph": "gnnsync.graph",
    "PoseGraph": "gnnsync.pose_graph",
    "PoseSolution": "gnnsync.pose_graph",
    "Positions": "gnnsync.positions",
    "Solution": "gnnsync.solution",
    "as_distances": "gnnsync.io",
    "as_graph": "gnnsync.io",
    "find_second_set": "gnnsync.methods.robust.second_set",
    "read": "gnnsync.io",
    "read_distances": "gnnsync.io",
    "read_poses": "gnnsync.io",
    "write": "gnnsync.io",
    "write_poses": "gnnsync.io",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gnnsync' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
