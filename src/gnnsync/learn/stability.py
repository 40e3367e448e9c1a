"""Bound on the change of the initial angles when graph or features change (Proposition 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from gnnsync.angles import TWO_PI
from gnnsync.errors import GraphError, ParameterError, check_array, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.encoders.dimpa import DIMPA, source_target_matrices
from gnnsync.learn.head import AngleHead
from gnnsync.typing import FloatArray


@dataclass(frozen=True)
class StabilityBound:
    """Distances of the inputs (ε) and by how much each can be amplified (B).

    `source` and `target` are for the row-normalised matrices, `features` for the features.
    """

    distance_source: float
    distance_target: float
    distance_features: float
    factor_source: float
    factor_target: float
    factor_features: float

    @property
    def bound(self) -> float:
        """B_s ε_s + B_t ε_t + B_f ε_f ≥ ‖r⁽⁰⁾ - r̂⁽⁰⁾‖_F."""
        return (
            self.factor_source * self.distance_source
            + self.factor_target * self.distance_target
            + self.factor_features * self.distance_features
        )


def stability_bound(
    encoder: DIMPA,
    head: AngleHead,
    graph: MeasurementGraph,
    other: MeasurementGraph,
    features: ArrayLike,
    other_features: ArrayLike,
    replica: int = 0,
) -> StabilityBound:
    r"""Bound on the change of the initial angles of one DIMPA replica (the paper's Prop. 2).

    .. math::
        \|r^{(0)} - \hat r^{(0)}\|_F \le B_s\|A_s - \hat A_s\|_F + B_t\|A_t - \hat A_t\|_F
                                     + B_f\|X - \hat X\|_F

    With Q = ReLU(X W₀) W₁, hop weights ω, and a⁽ˡ⁾ the head's vectors, all of the source side:

    .. math::
        B_s &= \tfrac{2\pi}{4} \max_l\|a^{(l)}\|
               \sum_{h\ge1} |\omega_h| \sum_{i+j=h-1} \|\hat A_s\|_2^i\, \|A_s^j Q\|_F, \\
        B_f &= \tfrac{2\pi}{4} \sum_{s,t} \max_l\|a^{(l)}\|\,
               \Bigl\|\sum_h \omega_h \hat A^h\Bigr\|_F \|W_1\|_F \|W_0\|_F,

    B_t as B_s, and :math:`\|\hat A\|_2 \le (\|\hat A\|_1 \|\hat A\|_\infty)^{1/2}` in place of the
    spectral norm. The printed constants differ, and do not always bound the change:

    * the last lines of the proof drop ‖a‖, which ‖(Z - Ẑ)a‖ ≤ ‖a‖·‖Z - Ẑ‖ needs;
    * it takes :math:`A^2 - \hat A^2` for :math:`(A - \hat A)(A + \hat A)`, which only holds for
      matrices that commute; here :math:`A^h - \hat A^h = \sum \hat A^i (A - \hat A) A^j`;
    * its hop weight ω₀ is 1, while DIMPA's is trained;
    * it uses the Lipschitz constant 1 of the sigmoid, which is 1/4.

    It holds for any number of hops and any k, without dropout. Only sparse matrices are formed.

    Args:
        encoder: a DIMPA, trained or not.
        head: its head.
        graph: measurement graph with matrices A_s and A_t.
        other: the graph compared with it, with Â_s and Â_t.
        features: X (n, f).
        other_features: X̂ (n, f).
        replica: which of the R replicas.
    """
    x, y, r = _checked(encoder, graph, other, features, other_features, replica)
    matrices = source_target_matrices(graph, encoder.tau)
    perturbed = source_target_matrices(other, encoder.tau)
    factors = [
        _side_factors(encoder, head, r, side, matrices[side], perturbed[side], x)
        for side in range(2)
    ]
    distances = [_frobenius(matrices[side] - perturbed[side]) for side in range(2)]
    return StabilityBound(
        distances[0],
        distances[1],
        float(np.linalg.norm(x - y)),
        factors[0][0],
        factors[1][0],
        factors[0][1] + factors[1][1],
    )


def _checked(
    encoder: DIMPA,
    graph: MeasurementGraph,
    other: MeasurementGraph,
    features: ArrayLike,
    other_features: ArrayLike,
    replica: int,
) -> tuple[FloatArray, FloatArray, int]:
    """X, X̂ and the number of the replica, if all sizes agree."""
    x, y = check_array("features", features), check_array("other_features", other_features)
    if graph.num_nodes != other.num_nodes or not len(x) == len(y) == graph.num_nodes:
        raise GraphError(
            f"graphs with {graph.num_nodes} and {other.num_nodes} nodes, features with {len(x)} "
            f"and {len(y)} rows: must agree"
        )
    if not isinstance(encoder, DIMPA):
        raise ParameterError("encoder", encoder, "a DIMPA: the bound is for no other encoder")
    return x, y, check_integer("replica", replica, 0, encoder.hop_weight.shape[0] - 1)


def _side_factors(
    encoder: DIMPA,
    head: AngleHead,
    replica: int,
    side: int,
    matrix: Any,
    perturbed: Any,
    x: FloatArray,
) -> tuple[float, float]:
    """B_s (or B_t) of one side, and what the side adds to B_f."""
    w0, w1 = (_numpy(layer.weight)[replica, side] for layer in (encoder.first, encoder.second))
    hops = _numpy(encoder.hop_weight)[replica, side].ravel()
    vectors = _numpy(head.vector)[replica, :, side * encoder.width :, 0][:, : encoder.width]
    # 2π·sigmoid is Lipschitz with constant 2π/4.
    scale = TWO_PI / 4.0 * float(np.linalg.norm(vectors, axis=1).max())
    inner = np.maximum(x @ w0, 0.0) @ w1
    mixed = _frobenius(_polynomial(perturbed, hops))
    return (
        scale * _graph_factor(matrix, perturbed, inner, hops),
        scale * mixed * float(np.linalg.norm(w1) * np.linalg.norm(w0)),
    )


def _graph_factor(a: Any, other: Any, inner: FloatArray, hops: FloatArray) -> float:
    """Σ_h |ω_h| Σ_{i+j=h-1} ‖Â‖₂^i ‖A^j Q‖_F, from A^h - Â^h = Σ Â^i (A - Â) A^j."""
    spectral = float(np.sqrt(abs(other).sum(axis=0).max() * abs(other).sum(axis=1).max()))
    norms = []
    for _ in hops[1:]:
        norms.append(float(np.linalg.norm(inner)))
        inner = a @ inner
    return sum(
        abs(weight) * sum(spectral ** (h - 1 - j) * norms[j] for j in range(h))
        for h, weight in enumerate(hops[1:], start=1)
    )


def _polynomial(a: Any, hops: Sequence[float] | FloatArray) -> Any:
    """Σ_h ω_h A^h by Horner's rule, sparse."""
    identity = sp.eye_array(a.shape[0], format="csr")
    total = hops[-1] * identity
    for weight in hops[-2::-1]:
        total = a @ total + weight * identity
    return total


def _frobenius(matrix: Any) -> float:
    return float(np.sqrt((sp.csr_array(matrix).data ** 2).sum()))


def _numpy(tensor: Any) -> FloatArray:
    array: FloatArray = tensor.detach().cpu().double().numpy()
    return array
