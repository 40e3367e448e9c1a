"""The fit of many small dense patches at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnnsync.localization.fitting.equations import PairEnergy
from gnnsync.localization.fitting.noise import DistanceNoise
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Numbers of patch, first and second point of some entries of the matrices.
_Entries = tuple[NDArray[np.intp], ...]

# Damping relative to the diagonal: the first, how it changes, and the least.
_FIRST_DAMPING, _RELAX, _STIFFEN, _LEAST_DAMPING = 1e-2, 0.2, 5.0, 1e-10
# Residuals count up to so many deviations, or this part of the distance, in that of a patch.
_CAP, _REJECTED = 3.0, 0.1
# No division by 0.
_LEAST = 1e-300
# Last steps without the push between points without a distance, and its strength.
_FREE_STEPS, _PUSH = 5, 20.0


def fit_patches(
    start: FloatArray,
    measured: FloatArray,
    deviation: FloatArray | None,
    apart: FloatArray,
    valid: BoolArray,
    iterations: int,
) -> tuple[FloatArray, FloatArray]:
    """Positions (b, k, 2) of patches fitted to distances, and their relative deviation (b,).

    Damped Gauss-Newton steps on the energy of `DistanceNoise`, with one law for all patches.

    Args:
        start: (b, k, 2).
        measured: (b, k, k), symmetric, inf where there is no distance.
        deviation: (b, k, k) stated deviations, if any.
        apart: (b, k, k) least distance that points without a measured one probably have; it
            counts in the first steps.
        valid: (b, k) points that exist.
        iterations: number of steps.
    """
    patches = _Patches(measured, apart, valid)
    place, damping = start, np.full(len(valid), _FIRST_DAMPING)
    unit, length = patches.directions(place)
    stated = None if deviation is None else deviation[patches.entries]
    law = DistanceNoise.first(length, measured[patches.entries], stated)
    unknowns = int((2 * valid.sum(axis=1) - 3).sum())
    for number in range(iterations):
        pushing = number < iterations - _FREE_STEPS
        law = law.fitted(length, unknowns, fixed=number > _FREE_STEPS)
        scale = law.scale(length)
        hessian, gradient = patches.equations(law.energy(length, scale), unit, length)
        before = patches.total(law.energy(length, scale), place, pushing)
        if pushing:
            patches.add_push(hessian, gradient, place)
        moved = place - patches.solved(hessian, gradient, damping)
        new_unit, new_length = patches.directions(moved)
        better = patches.total(law.energy(new_length, scale), moved, pushing) < before
        damping = np.where(better, np.maximum(damping * _RELAX, _LEAST_DAMPING), damping * _STIFFEN)
        place = np.where(better[:, None, None], moved, place)
        chosen = better[patches.entries[0]]
        unit = np.where(chosen[:, None], new_unit, unit)
        length = np.where(chosen, new_length, length)
    return place, patches.deviation(law, length)


class _Patches:
    """The distances of b patches of at most k points; `entries` are those of the matrices."""

    def __init__(self, measured: FloatArray, apart: FloatArray, valid: BoolArray) -> None:
        self.entries: _Entries = np.nonzero(np.triu(np.isfinite(measured), 1))
        both = valid[:, :, None] & valid[:, None, :]
        self._missing: _Entries = np.nonzero(np.triu(both & ~np.isfinite(measured), 1))
        self._least = apart[self._missing]
        self._valid = valid

    def directions(self, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Unit vectors (e, 2) and lengths (e,)."""
        patch, i, j = self.entries
        step = place[patch, i] - place[patch, j]
        length = np.hypot(step[:, 0], step[:, 1])
        return step / np.maximum(length, _LEAST)[:, None], length

    def total(self, energy: PairEnergy, place: FloatArray, pushing: bool) -> FloatArray:
        """Energy (b,) of each patch."""
        value = np.bincount(self.entries[0], energy.value, len(place))
        push = _push(place, self._missing, self._least)[0] if pushing else np.zeros(len(place))
        return np.asarray(value + push, dtype=np.float64)

    def equations(
        self, energy: PairEnergy, unit: FloatArray, length: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Hessians (b, 2k, 2k) and gradients (b, 2k)."""
        across = np.maximum(energy.slope / np.maximum(length, _LEAST), 0.0)
        shape = (self._valid.shape[0], self._valid.shape[1])
        return _equations(self.entries, unit, energy.slope, energy.stiffness, across, shape)

    def add_push(self, hessian: FloatArray, gradient: FloatArray, place: FloatArray) -> None:
        """Add the derivatives of the push between points without a distance."""
        _, near, gap, unit = _push(place, self._missing, self._least)
        patch, i, j = (a[near] for a in self._missing)
        slope, stiffness = -_PUSH * gap / self._least[near], _PUSH / self._least[near] ** 2
        shape = (place.shape[0], place.shape[1])
        entries = (patch, i, j)
        more, pull = _equations(entries, unit, slope, stiffness, np.zeros(len(near)), shape)
        hessian += more
        gradient += pull

    def solved(self, hessian: FloatArray, gradient: FloatArray, damping: FloatArray) -> FloatArray:
        """The step (b, k, 2) of damped equations; 0 for points that do not exist."""
        diagonal = np.einsum("baa->ba", hessian)  # a view
        largest = diagonal.max(axis=1, keepdims=True)
        diagonal += damping[:, None] * diagonal + _LEAST_DAMPING * largest + _LEAST
        diagonal[np.repeat(~self._valid, 2, axis=1)] = 1.0
        change = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        return np.asarray(change.reshape(*self._valid.shape, 2))

    def deviation(self, law: DistanceNoise, length: FloatArray) -> FloatArray:
        """Root mean square residual (b,) by the degrees of freedom, in units of the scale.

        Rejected distances count as well, or a patch could fit by rejecting what it does not fit.
        """
        scale, b = law.scale(length), len(self._valid)
        z = np.abs(length - law.distance) / scale
        most = max(_CAP * law.sigma, _REJECTED * float(np.median(law.distance / scale)))
        square = np.bincount(self.entries[0], np.minimum(z, most) ** 2, b)
        freedom = np.bincount(self.entries[0], minlength=b) - 2 * self._valid.sum(axis=1) + 3
        return np.asarray(np.sqrt(square / np.maximum(freedom, 1)))


def _push(
    place: FloatArray, missing: _Entries, least: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
    """Energy (b,) of points too near each other; which pairs, relative gaps, directions."""
    patch, i, j = missing
    step = place[patch, i] - place[patch, j]
    length = np.hypot(step[:, 0], step[:, 1])
    near = np.flatnonzero(length < least)
    gap = 1.0 - length[near] / least[near]
    value = np.asarray(np.bincount(patch[near], 0.5 * _PUSH * gap**2, len(place)), dtype=np.float64)
    return value, near.astype(np.int64), gap, step[near] / np.maximum(length[near], _LEAST)[:, None]


def _equations(
    entries: _Entries,
    unit: FloatArray,
    slope: FloatArray,
    along: FloatArray,
    across: FloatArray,
    shape: tuple[int, int],
) -> tuple[FloatArray, FloatArray]:
    """Hessians (b, 2k, 2k) and gradients (b, 2k)."""
    (patch, i, j), (b, k) = entries, shape
    outer = unit[:, :, None] * unit[:, None, :]
    block = (along - across)[:, None, None] * outer + across[:, None, None] * np.eye(2)
    hessian = np.zeros((b, k, 2, k, 2))
    hessian[patch, i, :, j, :] = -block
    hessian[patch, j, :, i, :] = -block
    first, second = patch * k + i, patch * k + j
    own = np.zeros((b, k, 2, 2))
    for r, c in ((0, 0), (0, 1), (1, 1)):
        value = block[:, r, c]
        own[:, :, r, c] = (
            np.bincount(first, value, b * k) + np.bincount(second, value, b * k)
        ).reshape(b, k)
    own[:, :, 1, 0] = own[:, :, 0, 1]
    every = np.arange(k)
    hessian[:, every, :, every, :] = own.transpose(1, 0, 2, 3)
    pull = slope[:, None] * unit
    gradient = np.zeros((b, k, 2))
    for a in range(2):
        gradient[:, :, a] += np.bincount(first, pull[:, a], b * k).reshape(b, k)
        gradient[:, :, a] -= np.bincount(second, pull[:, a], b * k).reshape(b, k)
    return hessian.reshape(b, 2 * k, 2 * k), gradient.reshape(b, 2 * k)
