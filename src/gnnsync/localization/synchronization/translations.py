"""Positions of all points from patches of known reflection and rotation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.errors import check_integer, check_real
from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.localization.base import LocalPatches
from gnnsync.topology import component_labels
from gnnsync.typing import FloatArray, IntArray

# Scale of the residuals relative to their median, for normal errors of both coordinates.
_MEDIAN_RADIUS = 1.1774
# The scale is at least this part of the size of a patch: smaller residuals all have full weight,
# and no region hangs by weights of nearly 0.
_LEAST_SCALE = 1e-2


@dataclass(frozen=True)
class RobustTranslations:
    r"""Translations by iteratively reweighted sparse least squares.

    Minimises :math:`\sum_{a, i \in a} \rho(|p_i - t_a - R_a x_{ai}| / (c s))` over the positions p
    and the translations t, with ρ of Geman and McClure and s the scale of the residuals by their
    median, that falls from round to round. The matrix is the Laplacian of the graph between points
    and patches. After each round the patches may turn, and change their reflection, to fit the
    positions better.

    Args:
        rounds: of weights.
        cutoff: c; residuals of c scales have a quarter of the weight.
        turns: rounds, the last ones, in which the patches are fitted to the positions again.
    """

    rounds: int = 15
    cutoff: float = 3.0
    turns: int = 10

    def __post_init__(self) -> None:
        check_integer("rounds", self.rounds, 1)
        check_real("cutoff", self.cutoff, 0, open_low=True)
        check_integer("turns", self.turns, 0)

    def __call__(
        self, patches: LocalPatches, signs: IntArray, angles: FloatArray, num_points: int
    ) -> FloatArray:
        """Positions (n, 2), of each set of overlapping patches in a frame of its own."""
        p, n = len(patches), num_points
        assert patches.position is not None
        if not p:
            return np.full((n, 2), np.nan)
        owner = np.repeat(np.arange(p), np.diff(patches.indptr))
        edges = np.stack([patches.member, n + owner])
        own = patches.position[:, 0] + 1j * patches.position[:, 1]
        turned = np.where(signs[owner] < 0, own.conj(), own) * np.exp(1j * angles)[owner]
        component = component_labels(edges, n + p).astype(np.int64)
        weight = np.ones(len(owner))
        factor = LaplacianFactor(edges, component, weight)
        least = _LEAST_SCALE * float(np.median(np.abs(own)))
        for number in range(self.rounds):
            if number:
                factor.update(weight)
            place = factor.least_squares(turned.real) + 1j * factor.least_squares(turned.imag)
            if number >= self.rounds - self.turns:
                turned = _fitted(owner, own, place[patches.member], weight, p)
            residual = np.abs(place[edges[0]] - place[edges[1]] - turned)
            scale = max(float(np.median(residual)) / _MEDIAN_RADIUS, least)
            weight = (1.0 + (residual / (self.cutoff * scale)) ** 2) ** -2.0
        found = np.full((n, 2), np.nan)
        placed = np.unique(patches.member)
        found[placed] = np.stack([place[placed].real, place[placed].imag], axis=1)
        return found


def _fitted(
    owner: IntArray, own: np.ndarray, place: np.ndarray, weight: FloatArray, p: int
) -> np.ndarray:
    """The patches turned, and reflected if that fits better, onto the positions of their points."""

    def total(value: np.ndarray) -> np.ndarray:
        return np.bincount(owner, value.real, p) + 1j * np.bincount(owner, value.imag, p)

    count = np.maximum(np.bincount(owner, weight, p), 1e-12)
    a = place - (total(weight * place) / count)[owner]
    b = own - (total(weight * own) / count)[owner]
    straight, mirrored = total(weight * a * b.conj()), total(weight * a * b)
    same = np.abs(straight) >= np.abs(mirrored)
    turn = np.exp(1j * np.angle(np.where(same, straight, mirrored)))
    return np.asarray(np.where(same[owner], own, own.conj()) * turn[owner])
