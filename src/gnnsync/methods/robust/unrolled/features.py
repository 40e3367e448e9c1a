"""Invariants that the network reads: what triangles and initial angles say of edges and noise."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.topology import draw_triangles
from gnnsync.typing import FloatArray

# Widths (radians) of the kernels under which a triangle counts as closed.
WIDTHS = (0.2, 0.5)
# Harmonics of the closures and of the residuals.
HARMONICS = (1, 2, 3)
# Columns of the edges: the number of triangles, and one score for every width.
EDGE_FEATURES = 1 + len(WIDTHS)
# Entries of the graph: the number of triangles, the moments of closures and of residuals.
GRAPH_FEATURES = 1 + 2 * len(HARMONICS)
# The moments of more closures than this are as good as exact.
_MANY_TRIANGLES = 1 << 14
# Most triangles that are looked at; beyond it a sample is drawn.
_MOST_TRIANGLES = 1 << 20


def cycle_features(
    graph: MeasurementGraph, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    r"""Number and closure of the triangles, at every edge (m, F) and in all (F',).

    With the closures s_t of the T_e triangles at edge e and a kernel K of mean μ and variance v
    over the circle, the score of a width is asinh of

    .. math:: z_e = \frac{1}{\sqrt{v T_e}} \sum_t (K(s_t) - μ),

    which has mean 0 and variance 1 if the edge is an outlier. The first column is log(1 + T_e).

    Of the whole graph: log(1 + min(T, 2¹⁴))/10, and the cube roots of the means of cos(q s_t). With
    independent outliers and normal noise the latter estimate
    :math:`k^{1/3} \frac{1-η}{k} e^{-q²σ²/2}`, whatever the angles.

    All are invariant under relabelling, reversal of edges and rotations of single nodes.
    """
    m = graph.num_edges
    triangles = draw_triangles(graph.edge_index, graph.num_nodes, _MOST_TRIANGLES, rng)
    edges = triangles.edges.ravel()
    count = np.bincount(edges, minlength=m).astype(np.float64)
    closure = wrap(triangles.sums(graph.offset))
    columns = [np.log1p(count)]
    for width in WIDTHS:
        kernel = np.exp(-0.5 * (closure / width) ** 2)
        mean = width / np.sqrt(TWO_PI)
        variance = width / np.sqrt(2.0 * TWO_PI) - mean**2
        excess = np.bincount(edges, weights=np.repeat(kernel - mean, 3), minlength=m)
        columns.append(np.arcsinh(excess / np.sqrt(np.maximum(variance * count, variance))))
    moments = _mean_cosines(closure)
    about = [0.1 * np.log1p(min(len(closure), _MANY_TRIANGLES)), *np.cbrt(moments)]
    return np.stack(columns, axis=1), np.array(about)


def residual_features(graph: MeasurementGraph, start: FloatArray, sure: FloatArray) -> FloatArray:
    """Means of cos(q r) of the residuals r at initial angles (n, k), over edges between sure nodes.

    For the leading eigenvector of D⁻¹H the first is nearly its eigenvalue, (1-η)e^{-σ²/2}/k on a
    random graph; for k > 1 the mean over the groups.
    """
    inside = (sure[graph.src] > 0) & (sure[graph.dst] > 0)
    return _mean_cosines(graph.residual(start)[inside])


def _mean_cosines(angle: FloatArray) -> FloatArray:
    """Means of cos(q x), q = 1..3, by powers of one cosine; 0 if there are no angles."""
    if not angle.size:
        return np.zeros(len(HARMONICS))
    cosine = np.cos(angle)
    square = cosine**2
    first, second = cosine.mean(), square.mean()
    return np.array([first, 2.0 * second - 1.0, 4.0 * (square * cosine).mean() - 3.0 * first])
