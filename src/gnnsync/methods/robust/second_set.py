"""Do the measurements that one set of angles rejects agree on a second set?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import top_eigenvectors
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.gnc import GNC
from gnnsync.methods.robust import LARGE_GRAPH_EDGES
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.solution import Solution

# Rejected edges per node from which a second set is looked for: fewer agree with some angles.
_LEAST_DEGREE = 2.0
# The leading eigenvalue of the rejected edges must exceed that with random offsets, the largest of
# this many draws, by this factor.
_DRAWS, _EXCESS = 2, 1.03
# Share of all edges that the second set must explain, and that relative to the first.
_LEAST_SHARE, _LEAST_RATIO = 0.1, 0.35
# Evidence per node that it must gain, in natural logarithms, and the noise up to which residuals
# are those of a set of angles and no background.
_LEAST_GAIN, _MOST_SIGMA = 0.5, 0.6
_ROUNDS = 3


@dataclass(frozen=True)
class SecondSet:
    """A second set of angles in the measurements.

    Args:
        explained: share of the edges that one of the two sets explains.
        second: share of the edges that the second alone explains.
        gain: evidence per node that the second set adds.
    """

    explained: float
    second: float
    gain: float

    def __str__(self) -> str:
        return f"k = 2 explains {self.explained:.0%} of the edges"


def find_second_set(
    solution: Solution, graph: MeasurementGraph | None = None, *, seed: int = 0
) -> SecondSet | None:
    """A second set of angles that explains many of the edges which a solution of one rejects.

    First the leading eigenvalue of the rejected edges is compared with that of random offsets on
    the same edges: where there is no second set the search mostly ends here. Angles are then fitted
    to the rejected edges, and both sets together to all: the second counts if it explains a share
    of the edges comparable to the first, and if the evidence (the likelihood with the angles
    integrated out) gains more than the additional angles cost. None if not, and on graphs of more
    than 200,000 edges, which are not examined.

    It takes up to a third of the time of `auto` on a small graph, less on most others, and several
    times that of a fast method such as `gpm`; so it is no part of every solution.

    Args:
        solution: of k = 1.
        graph: the measurements; the solution's own if not given.
        seed: random seed.
    """
    graph, rng = solution.check_graph(graph), np.random.default_rng(seed)
    if solution.k != 1 or graph.num_edges > LARGE_GRAPH_EDGES or graph.bridges.all():
        return None
    first = fit_mixture(graph, solution.angles)
    rejected = np.flatnonzero((first.membership[:, 0] < 0.5) & ~graph.bridges)
    if len(rejected) < _LEAST_DEGREE * graph.num_nodes:
        return None
    rest = MeasurementGraph(graph.edge_index[:, rejected], graph.offset[rejected], graph.num_nodes)
    if not _may_agree(rest, rng):
        return None
    second = local_search(rest, GNC().anneal(rest, 1, rng), rounds=_ROUNDS)
    both = fit_mixture(graph, np.column_stack([first.angles, second.angles]))
    return _verdict(graph, first, both)


def _may_agree(graph: MeasurementGraph, rng: np.random.Generator) -> bool:
    """Whether the leading eigenvalue is larger than with uniform offsets on the same edges."""
    value = _leading_value(graph, rng)
    for _ in range(_DRAWS):
        offset = rng.uniform(0.0, 2.0 * np.pi, graph.num_edges)
        if value < _EXCESS * _leading_value(graph.replace(offset=offset), rng):
            return False
    return True


def _leading_value(graph: MeasurementGraph, rng: np.random.Generator) -> float:
    """Largest eigenvalue of the normalised Hermitian matrix of the offsets, at most 1."""
    matrix = EdgeOperator(graph).normalised(graph.edge_weight)
    return float(top_eigenvectors(matrix, 1, rng, bound=1.0)[0][0])


def _verdict(graph: MeasurementGraph, first: MixtureFit, both: MixtureFit) -> SecondSet | None:
    gain = (both.evidence - first.evidence) / graph.num_nodes
    weaker, stronger = np.sort(both.share)
    large = weaker > _LEAST_SHARE and weaker > _LEAST_RATIO * stronger
    if not large or gain < _LEAST_GAIN or both.sigma > _MOST_SIGMA:
        return None
    return SecondSet(float(both.share.sum()), float(both.share[1]), gain)
