"""Expected times of the parts of `auto`, for the progress that is shown.

Seconds on one core, of which only the ratios matter: the time left follows from the speed so far.
Measured by `python -m benchmarks.progress`.
"""

from __future__ import annotations

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust import LARGE_GRAPH_EDGES

NETWORK_COSTS = {"eigenvectors": 1.5, "triangles": 1.0, "sweeps": 15.0}
FIT_COSTS = {"EM": 2.0, "local search": 4.0, "last fit": 2.0}
_ANGLES = {"network": 18.0, "gnc": 8.0, "cemp": 2.0, "spectral": 2.0, "belief": 40.0, "cycles": 0.0}
_FIT = 8.0


def candidate_costs(name: str) -> dict[str, float]:
    """Finding the angles of a candidate, and fitting them."""
    return {"angles": _ANGLES.get(name, _FIT), "fit": _FIT}


def auto_costs(graph: MeasurementGraph, k: int) -> dict[str, float]:
    """Stages of `auto`, those included that the data may make superfluous."""
    million = graph.num_edges / 1e6
    costs = {
        "network": _ANGLES["network"] * k + _FIT * k,
        "noise law": 4.0 * k,
        "final angles": 18.0 * k,
        "confidence": 1.0 * k,
    }
    if graph.num_edges <= LARGE_GRAPH_EDGES:
        costs |= {"closed cycles": 5.0, "gnc": 12.0}
    return {name: cost * million for name, cost in costs.items()}
