"""What is measured of a solved pose graph with false closures."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import TWO_PI, reduce_angle, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.metrics import angular_mse
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray

# A closure with at least this confidence counts as accepted.
ACCEPTED = 0.5
# Bins of confidence for the calibration error.
_BINS = 10


def measure(
    graph: MeasurementGraph,
    false: BoolArray,
    truth: FloatArray,
    headings: FloatArray,
    confidence: FloatArray,
) -> dict[str, float | None]:
    """Figures of estimated headings (n,) and confidences (m,) against the truth (n,).

    `right`: share of headings within `NODE_TOLERANCE` of the truth after the best common rotation;
    `mse`: `gnnsync.metrics.angular_mse`. Of the closures, the edges that are not trusted:
    `precision`: share of true ones among the accepted; `recall`: share of accepted ones among the
    true; `precision_heading` and `calibration` (expected calibration error) leave out the false
    closures whose heading happens to be right, which headings alone cannot tell. None where nothing
    can be counted.
    """
    closure = ~graph.edge_trusted
    lucky = false & (np.abs(graph.residual(truth)) <= NODE_TOLERANCE)
    accepted = closure & (confidence >= ACCEPTED)
    known = closure & ~lucky
    return {
        "right": share_right(headings, truth),
        "mse": angular_mse(headings, truth),
        "precision": _share(~false, accepted),
        "precision_heading": _share(~false, accepted & ~lucky),
        "recall": _share(accepted, closure & ~false),
        "calibration": calibration_error(confidence[known], ~false[known]),
        "lucky": float(lucky.sum()),
    }


def share_right(headings: FloatArray, truth: FloatArray) -> float:
    """Largest share of headings within the tolerance of the truth over all common rotations."""
    shift = np.sort(reduce_angle(wrap(headings - truth)))
    n = len(shift)
    # For each heading as the first one within the window of twice the tolerance.
    circle = np.concatenate([shift, shift + TWO_PI])
    last = np.searchsorted(circle, shift + 2.0 * NODE_TOLERANCE, side="right")
    return float(np.max(last - np.arange(n)) / n)


def position_error(poses: FloatArray, truth: FloatArray) -> float:
    """Root mean square distance (metres) of positions (n, ≥ 2) after the best rigid motion."""
    found, true = (p[:, :2] @ np.array([1.0, 1j]) for p in (poses, truth))
    found, true = found - found.mean(), true - true.mean()
    turn = np.exp(1j * np.angle(np.vdot(found, true)))
    return float(np.sqrt((np.abs(turn * found - true) ** 2).mean()))


def calibration_error(confidence: FloatArray, right: BoolArray) -> float | None:
    """Σ over bins of (share of the bin) · |mean confidence - share of true ones|."""
    if not len(confidence):
        return None
    place = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    difference = np.bincount(place, confidence - right, _BINS)
    return float(np.abs(difference).sum() / len(confidence))


def _share(what: BoolArray, among: BoolArray) -> float | None:
    return float(what[among].mean()) if among.any() else None
