"""What can be said of a fit: confidence of edges and nodes, and standard deviations."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.propagation import angle_variance
from gnnsync.methods.robust.confidence.error_propagation import location_variance
from gnnsync.methods.robust.confidence.node_confidence import Support
from gnnsync.methods.robust.confidence.parts import confidence_of_parts
from gnnsync.methods.robust.noise.mixture import MixtureFit, relative_weight
from gnnsync.methods.robust.sparse.posterior import AngleSamples, sample_angles, sparse_kernel
from gnnsync.typing import FloatArray
from gnnsync.work import TimeUp, check_time

# Share of nodes that angles of the posterior must gain to take the place of the fitted ones.
_GAIN = 0.01
# Share of the information that is left, at least, where inliers are not known for certain.
_LEAST_INFORMATION = 0.2


@dataclass(frozen=True, eq=False)
class Assessment:
    """Confidences and deviations of an estimate; names and shapes as in `Solution`."""

    angles: FloatArray
    edge_confidence: FloatArray
    node_confidence: FloatArray
    node_deviation: FloatArray
    edge_precision: FloatArray

    @property
    def fields(self) -> dict[str, Any]:
        """The fields by name, for an `Estimate`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def assess(
    graph: MeasurementGraph,
    fit: MixtureFit,
    rng: np.random.Generator,
    support: Support | None = None,
    *,
    improve: bool = False,
) -> Assessment:
    """Confidences and deviations of the angles of a fit.

    With one group and few cycles (`sparse_kernel`) from samples of the posterior; elsewhere from
    `confidence_of_parts`.

    Args:
        graph: the measurements, connected.
        fit: angles and, fitted with `move=False`, the noise that they imply.
        rng: for samples.
        support: what else is known of the angles.
        improve: whether the angles of the posterior may take the place of the fitted ones.

    Returns:
        Confidences and deviations of the nodes are NaN, unknown, if the time limit
        (`gnnsync.work`) is reached.
    """
    try:
        check_time()
        return _assess(graph, fit, rng, support, improve)
    except TimeUp:
        right, deviation = np.full(graph.num_nodes, np.nan), np.full(fit.angles.shape, np.nan)
        precision = _precision(graph, fit)
        return Assessment(fit.angles, fit.edge_confidence, right, deviation, precision)


def _assess(
    graph: MeasurementGraph,
    fit: MixtureFit,
    rng: np.random.Generator,
    support: Support | None,
    improve: bool,
) -> Assessment:
    """`assess` without a time limit."""
    kernel = sparse_kernel(graph) if fit.share.size == 1 else None
    if kernel is not None:
        samples = sample_angles(graph, kernel, rng, start=fit.edge_confidence > 0.5)
        return _from_samples(graph, fit, samples, improve)
    right = confidence_of_parts(graph, fit, rng, support)
    precision = _precision(graph, fit)
    variance = [angle_variance(graph, column, rng) for column in precision.T]
    deviation = np.sqrt(np.stack(variance, axis=1))
    return Assessment(
        fit.angles, fit.edge_confidence, right, _where_known(right, deviation), precision
    )


def _precision(graph: MeasurementGraph, fit: MixtureFit) -> FloatArray:
    r"""Information (m, k) that the measurements have of the differences of angles.

    An edge that is an inlier with probability p has p/σ² as if it were known to be one. Not knowing
    costs p (1 - p) r²/σ⁴ (Louis 1982), which is taken from all edges of a group in proportion:

    .. math:: \frac{p_e w_e}{σ^2} \Bigl(1 - \frac{\sum_e p_e (1 - p_e) w_e^2 r_e^2/σ^4}{
              \sum_e p_e w_e/σ^2}\Bigr).
    """
    weight, member = relative_weight(graph)[:, None], fit.membership
    variance = location_variance(fit)
    full = member * weight / variance
    if not np.isinf(fit.dof):
        return full
    residual = graph.residual(fit.angles)
    lost = member * (1.0 - member) * (weight * residual / variance) ** 2
    share = 1.0 - lost.sum(axis=0) / np.maximum(full.sum(axis=0), np.finfo(float).tiny)
    return full * np.maximum(share, _LEAST_INFORMATION)


def _from_samples(
    graph: MeasurementGraph, fit: MixtureFit, samples: AngleSamples, improve: bool
) -> Assessment:
    angles = fit.angles[:, 0]
    if improve:
        angles = samples.best(angles, _GAIN)
    right, known = samples.confidence(angles), np.nan_to_num(samples.edge_confidence)
    variance = float(np.median(samples.sigma)) ** 2
    return Assessment(
        angles[:, None],
        samples.edge_confidence,
        right,
        _where_known(right, samples.deviation(angles)[:, None]),
        (known * relative_weight(graph) / variance)[:, None],
    )


def _where_known(right: FloatArray, deviation: FloatArray) -> FloatArray:
    """Deviations (n, k), NaN where no common rotation is known to which they could refer."""
    return np.where(np.isnan(right)[:, None], np.nan, deviation)
