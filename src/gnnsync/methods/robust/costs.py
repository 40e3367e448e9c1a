"""Expected times of the parts of `auto`, for the progress that is shown.

Seconds on one core, of which only the ratios matter: the time left follows from the speed so far.
The figures come from `python -m benchmarks.progress --stages`, on graphs of 2,000 to 1,000,000
edges.
"""

from __future__ import annotations

from gnnsync.angles import TWO_PI
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust import LARGE_GRAPH_EDGES
from gnnsync.methods.robust.belief.propagation import most_sweeps, table_size

# Inner stages of the network and of the fit of a candidate.
NETWORK_COSTS = {"eigenvectors": 1.0, "triangles": 2.0, "sweeps": 20.0}
FIT_COSTS = {"EM": 1.0, "local search": 2.5, "last fit": 2.5}
# Seconds per edge and group to find the angles of a candidate, and to fit them.
_ANGLES = {"network": 7.5e-6, "gnc": 7e-6, "cemp": 4e-6, "spectral": 1e-6, "belief": 24e-6}
_FIT = 4e-6
_GROWTH = 85e-6
# Closed cycles and rotated regions: seconds, and seconds per edge.
_CYCLES, _REGIONS = (0.05, 0.3e-6), (0.1, 4e-6)
# EM and, on small graphs, the laws of the noise; confidence: seconds per edge and group.
_NOISE, _LAWS, _CONFIDENCE = 1.6e-6, 2.5e-6, 0.4e-6
# Seconds per entry of the message table and sweep, and sweeps that the final angles take: some 12,
# more with many outliers, and up to the limit where a bin is about as wide as σ or wider.
_SWEEP, _SWEEPS, _MANY_SWEEPS, _MOST_SWEEPS = 1.3e-8, 12, 30, 40
_MANY_OUTLIERS, _COARSE_BINS = 0.5, 1.1
# Seconds per edge of the networks that the bootstrap solves, and how many edges these have.
_BOOTSTRAP, _BOOTSTRAP_EDGES, _LEAST_SAMPLES, _MOST_SAMPLES = 1.5e-5, 36_000, 2, 6


def candidate_costs(name: str) -> dict[str, float]:
    """Finding the angles of a candidate, and fitting them."""
    return {"angles": _ANGLES.get(name, 0.0), "fit": _FIT}


def search_costs(graph: MeasurementGraph, k: int, *, extended: bool) -> dict[str, float]:
    """Candidates that `auto` is likely to try, and what follows."""
    names = ["network"]
    if graph.num_edges <= LARGE_GRAPH_EDGES:
        names += ["gnc", "spectral" if k > 1 else "cemp" if extended else "gnc"]
    size = graph.num_edges * k
    costs = {name: (_ANGLES[name] + _FIT) * size for name in names}
    if extended:
        costs["regions"] = _REGIONS[0] + _REGIONS[1] * graph.num_edges
        if k > 1:
            costs["growth"] = _GROWTH * size
    return costs | _final_costs(graph, k, extended)


def cycle_costs(graph: MeasurementGraph) -> float:
    """The search for closed cycles."""
    return _CYCLES[0] + _CYCLES[1] * graph.num_edges


def belief_costs(graph: MeasurementGraph, k: int, sigma: float, eta: float) -> float:
    """Belief propagation for the final angles, once noise and outliers are known."""
    table = table_size(graph)
    bins = table // (2 * graph.num_edges)
    coarse = sigma < _COARSE_BINS * TWO_PI / bins
    sweeps = _MANY_SWEEPS if eta > _MANY_OUTLIERS else _SWEEPS
    sweeps = min(_MOST_SWEEPS if coarse else sweeps, most_sweeps(graph, _MOST_SWEEPS))
    return _SWEEP * sweeps * k * table


def _final_costs(graph: MeasurementGraph, k: int, extended: bool) -> dict[str, float]:
    """What follows when the candidates are there: noise, final angles, confidence.

    The final angles are found by belief propagation; on extended graphs the confidence has a
    bootstrap.
    """
    size, small = graph.num_edges * k, graph.num_edges <= LARGE_GRAPH_EDGES
    confidence = _CONFIDENCE * size
    if extended and k == 1:
        edges = max(_LEAST_SAMPLES * size, min(_BOOTSTRAP_EDGES, _MOST_SAMPLES * size))
        confidence += _BOOTSTRAP * edges
    return {
        "noise law": (_NOISE + _LAWS * small) * size,
        "final angles": _SWEEP * _SWEEPS * k * table_size(graph),
        "confidence": confidence,
    }
