"""Trimmed averaging of neighbour predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import wrap
from gnnsync.errors import check_choice, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.convergence import is_negligible, typical_residual
from gnnsync.methods.spectral import spectral_start
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.work import advance_towards, iteration_limit, time_is_up

# Part of the trimmed mean by which a node moves: all nodes move at once, and with full steps they
# would overshoot on bipartite graphs.
_STEP = 0.5
# Nodes are kept apart in one sort by this much: values span 2π < 8.
_STRIDE = 8.0


@dataclass(frozen=True)
class TAS(ClassicalMethod):
    r"""Trimmed averaging synchronization (Maunu and Lerman 2023).

    Every neighbour j of i predicts an angle for i; the predictions differ from the present one by
    :math:`d_{ij} = \mathrm{wrap}(a_{ij} + r_j - r_i)`. Node i moves by their trimmed mean: the
    `trim` share of smallest and of largest d, counted by edge weight, is left out.

    .. math:: r_i \leftarrow r_i + \tfrac12\, \mathrm{trimmed\ mean}_j(d_{ij})

    Half a step, since all nodes move at once and would otherwise overshoot on bipartite graphs.
    The default, trim 0.4 from the spectral initialisation, is the best setting measured.

    Args:
        trim: share left out at either end, in [0, 0.5); near 0.5 the mean becomes a median.
        start: `spectral`, or `zero` for all angles equal.
        max_iterations: most sweeps over the nodes.
        tol: stop when the root mean square movement of a sweep is below this, in radians.
    """

    name = "tas"
    stops_early = True

    trim: float = 0.4
    start: str = "spectral"
    max_iterations: int = 200
    tol: float = 1e-6

    def check(self) -> None:
        """Ranges of the parameters."""
        check_real("trim", self.trim, 0, 0.5, open_high=True)
        check_choice("start", self.start, ("spectral", "zero"))
        check_integer("max_iterations", self.max_iterations, 1)
        check_real("tol", self.tol, 0, open_low=True)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) at which the trimmed means vanish."""
        if self.start == "spectral":
            angles = spectral_start(graph, rng)
        else:
            angles = np.zeros(graph.num_nodes)
        node, other = graph.edge_index.ravel(), graph.edge_index[::-1].ravel()
        offset = np.concatenate([graph.offset, -graph.offset])
        weight = np.concatenate([graph.edge_weight, graph.edge_weight])
        trusted = np.concatenate([graph.edge_trusted, graph.edge_trusted])
        moved, before, first, iterations = np.inf, np.inf, 0.0, 0
        while iterations < self.max_iterations:
            iterations += 1
            difference = wrap(offset + angles[other] - angles[node])
            means = trimmed_means(
                node, difference, weight, self.trim, graph.num_nodes, kept=trusted
            )
            shift = _STEP * means
            angles = angles + shift
            moved, before = float(np.sqrt((shift**2).mean())), moved
            first = max(first, moved)
            advance_towards(self.tol, first, moved)
            if moved <= self.tol or time_is_up():
                break
        noise = typical_residual(graph.residual(angles))
        converged = moved <= self.tol or is_negligible(moved, before, noise)
        return Estimate(
            angles,
            converged,
            iterations,
            "angles stopped moving" if converged else iteration_limit(iterations),
            diagnostics={"last_move": moved},
        )


def trimmed_means(
    node: IntArray,
    value: FloatArray,
    weight: FloatArray,
    trim: float,
    num_nodes: int,
    *,
    kept: BoolArray | bool = False,
) -> FloatArray:
    """Weighted trimmed mean (num_nodes,) of the values at each node; 0 at a node without any.

    `node`, `value` and `weight` have one entry per value; the values are in [-π, π). Values that
    are `kept`, if given, count in full wherever they lie.

    Sorted values occupy intervals of cumulative weight; each counts with the length of its
    interval inside [trim·W, (1 - trim)·W], W the node's total. So weight 2 equals two values, and
    a node with a single value keeps it.
    """
    # One sort by node, then value. Ties by rounding change no mean.
    order = np.argsort(_STRIDE * node + value)
    kept = np.broadcast_to(kept, len(node))[order]
    node, value, weight = node[order], value[order], weight[order]
    total = np.bincount(node, weights=weight, minlength=num_nodes)
    end = np.cumsum(weight)
    before = np.concatenate([[0.0], np.cumsum(total)[:-1]])
    end = (end - before[node]) / total[node]
    begin = end - weight / total[node]
    inside = np.maximum(np.minimum(end, 1.0 - trim) - np.maximum(begin, trim), 0.0)
    counted = np.where(kept, end - begin, inside)
    mass = np.bincount(node, weights=counted, minlength=num_nodes)
    mean = np.bincount(node, weights=counted * value, minlength=num_nodes)
    return np.divide(mean, mass, out=np.zeros(num_nodes), where=mass > 0)
