"""Whether a fit of several groups explains all parts of a graph alike."""

from __future__ import annotations

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.mixture import MixtureFit

# Dispersion below which a fit counts as even. On geometric graphs with at least 10 inliers per node
# and group it was 0.7 to 0.98 where the MSE was below 0.1.
_EVEN = 1.0
# Least mean number of a group's edges at a node. With fewer (7 at n = 330, p = 0.07, η = 0.2 and
# k = 2) boundaries between regions cannot be seen: the dispersion was 0.97 at an MSE of 0.87.
_LEAST_EDGES = 10.0
# Least variance of the share of a group's edges at a node, for groups with all edges or with none.
_LEAST_VARIANCE = 1e-6


def is_even(graph: MeasurementGraph, fit: MixtureFit) -> bool:
    """Whether groups have edges enough at the nodes to tell that they are the same everywhere."""
    edges = 2.0 * graph.num_edges / graph.num_nodes * fit.share.min()
    return bool(edges >= _LEAST_EDGES and dispersion(graph, fit) < _EVEN)


def dispersion(graph: MeasurementGraph, fit: MixtureFit) -> float:
    r"""How unevenly the edges of the groups are spread over the nodes, relative to chance.

    With x the number of edges of a group with share π at a node of degree d, the mean over nodes
    and groups of

    .. math:: \frac{(x - πd)²}{π(1 - π)d},

    which is 1 if every edge belongs to a group at random, and less if groups are not known for
    certain. Where regions that were solved apart do not fit together, few edges between them are
    explained, and the dispersion is larger.
    """
    count = np.bincount(graph.edge_index.ravel(), minlength=graph.num_nodes)
    degree = np.maximum(count, 1.0)
    total = 0.0
    for member in fit.membership.T:
        share = member.mean()
        at_node = sum(np.bincount(end, member, graph.num_nodes) for end in graph.edge_index)
        variance = max(share * (1.0 - share), _LEAST_VARIANCE) * degree
        total += float(((at_node - share * degree) ** 2 / variance).mean())
    return total / fit.share.size
