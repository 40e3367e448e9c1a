"""Angles and points from the patches themselves: generalised Procrustes by maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnnsync.angles import reduce_angle
from gnnsync.data.patches import Patches
from gnnsync.errors import check_array, check_bool, check_choice, check_integer, check_real
from gnnsync.typing import FloatArray, IntArray
from gnnsync.work import time_is_up

NOISES = ("anisotropic", "isotropic")
# Conjugate gradients for one step: most iterations, and relative accuracy.
_INNER_ITERATIONS, _INNER_ACCURACY = 400, 1e-3
# Longest step of an angle, in radians, and how often a step that does not help is halved.
_LONGEST_STEP, _HALVINGS = 0.5, 12
# Curvature of an angle is at least this part of what its positions alone give: near the optimum it
# is positive, far from it need not be.
_LEAST_CURVATURE = 0.2
# Variance, in units of the squared size of a patch's positions, that counts as exact.
_EXACT = 1e-26
_TINY = 1e-300
# Angles at which a patch is tried; a minimum farther away than this is another one.
_ANGLES, _OTHER_MINIMUM = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False), np.pi / 3


@dataclass(frozen=True, eq=False)
class PatchFit:
    """Angles of p patches and the n points that fit them best.

    Args:
        angles: (p,) in [0, 2π).
        points: (n, 2), in the frame in which all patches are turned back.
        noise: (2, 2) covariance of the noise of a position, in the same frame.
        objective: what was minimised: log det of the noise, or log of its trace.
        iterations: Newton steps.
        converged: whether the last step was below the tolerance.
    """

    angles: FloatArray
    points: FloatArray
    noise: FloatArray
    objective: float
    iterations: int
    converged: bool


def fit_patches(
    patches: Patches,
    angles: FloatArray,
    *,
    noise: str = "anisotropic",
    translations: bool = True,
    tol: float = 1e-5,
    max_iterations: int = 50,
) -> PatchFit:
    r"""Maximum likelihood of patches that are turned, shifted and noisy views of the same points.

    Patch i sees point x at

    .. math:: q_i(x) = R(\theta_i)\,(z(x) + t_i + \varepsilon_i(x)),
        \quad \varepsilon_i(x) \sim N(0, S).

    The noise is that before the rotation, so that its covariance in the frame of the patch turns
    with θ_i and tells of it. In the residuals r = R(-θ_i) q_i(x) - z(x) - t_i the likelihood is
    normal with the one covariance S, for which no determinant depends on the angles; with the best
    S it is least where

    .. math:: \log\det \sum_{i, x} r\, r^T \quad\text{or, for isotropic noise,}\quad
        \log \sum_{i, x} |r|^2.

    The latter is generalised Procrustes analysis (Gower, Psychometrika 40, 1975). Newton steps for
    angles and points, with the t_i eliminated, by preconditioned conjugate gradients in memory
    proportional to the positions; S is renewed in between. Then patches that fit the points better
    at a quite different angle are turned to it, and the steps go on from there. The common rotation
    of all patches is that of the start. The minimum is the nearest one but for such patches: the
    start has to be near, as the solution of the offsets is.

    Args:
        patches: p patches of n points.
        angles: (p,) initial angles.
        noise: `anisotropic` (S is estimated) or `isotropic`.
        translations: whether patches are shifted (t_i); otherwise they turn about the origin.
        tol: stop when no angle moves by more than this.
        max_iterations: most Newton steps.
    """
    check_choice("noise", noise, NOISES)
    check_bool("translations", translations)
    check_real("tol", tol, 0)
    check_integer("max_iterations", max_iterations, 0)
    isotropic = noise == "isotropic"
    theta = check_array("angles", angles, (len(patches),))
    views = _Views(patches, theta, patches.stitch(theta), translations)
    views, step, converged = _minimised_with_switches(views, isotropic, tol, max_iterations)
    # The common rotation is free: that of the start.
    common = float(np.angle(np.exp(1j * (views.angles - theta)).mean()))
    turn = np.array([[np.cos(common), -np.sin(common)], [np.sin(common), np.cos(common)]])
    return PatchFit(
        reduce_angle(views.angles - common),
        views.points @ turn.T,
        turn @ views.covariance(isotropic) @ turn.T,
        views.objective(isotropic),
        step,
        converged,
    )


def _minimised_with_switches(
    views: _Views, isotropic: bool, tol: float, max_iterations: int
) -> tuple[_Views, int, bool]:
    """Newton steps, and again from patches turned to a better angle, while the minimum falls."""
    views, step, converged = _minimised(views, isotropic, tol, max_iterations)
    while converged and (other := views.switched(isotropic)) is not None:
        other, more, found = _minimised(other, isotropic, tol, max_iterations - step)
        step += more
        if other.objective(isotropic) >= views.objective(isotropic):
            break
        views, converged = other, found
    return views, step, converged


def _minimised(
    views: _Views, isotropic: bool, tol: float, max_iterations: int
) -> tuple[_Views, int, bool]:
    """After Newton steps until no angle moves by more than `tol`; their number, and if it did."""
    step, moved = 0, np.inf
    while step < max_iterations and moved > tol and not time_is_up():
        step += 1
        views, moved = views.improved(isotropic)
    return views, step, moved <= tol


class _Views:
    """Positions turned back by the angles, their residuals and derivatives, (p, s, 2) each."""

    def __init__(
        self, patches: Patches, angles: FloatArray, points: FloatArray, translations: bool
    ) -> None:
        self.angles, self.points, self._patches = angles, points, patches
        turned = patches.position * np.exp(-1j * angles)[:, None]
        self._translations = translations
        self._seen = np.stack([turned.real, turned.imag], axis=-1)
        self._residual = self._without_shift(self._seen - points[patches.member])

    def covariance(self, isotropic: bool) -> FloatArray:
        """Mean of r rᵀ (2, 2), or the multiple of the identity with the same trace."""
        flat = self._residual.reshape(-1, 2)
        found = flat.T @ flat / len(flat)
        if isotropic:
            found = np.eye(2) * np.trace(found) / 2
        size = np.abs(self._seen).max(initial=_TINY)
        return np.asarray(found + _EXACT * size**2 * np.eye(2))

    def objective(self, isotropic: bool) -> float:
        """What is minimised; see `fit_patches`."""
        found = self.covariance(isotropic)
        return float(np.log(np.trace(found)) if isotropic else np.linalg.slogdet(found)[1])

    def improved(self, isotropic: bool) -> tuple[_Views, float]:
        """After a step that does not raise the objective, and the largest change of an angle.

        If no part of the step helps, the same and 0.
        """
        d_theta, d_z = self.newton_step(self.covariance(isotropic))
        scale = min(1.0, _LONGEST_STEP / max(float(np.abs(d_theta).max()), _TINY))
        for _ in range(_HALVINGS):
            angles, points = self.angles + scale * d_theta, self.points + scale * d_z
            tried = _Views(self._patches, angles, points, self._translations)
            if tried.objective(isotropic) <= self.objective(isotropic):
                return tried, float(np.abs(scale * d_theta).max())
            scale /= 2
        return self, 0.0

    def switched(self, isotropic: bool) -> _Views | None:
        """With other angles where a patch fits the points better; None if there is no such patch.

        Noise of different size along the two axes makes a second minimum, near the opposite angle.
        """
        precision = np.linalg.inv(self.covariance(isotropic))
        points = self._without_shift(self.points[self._patches.member])
        seen = self._without_shift(self._seen)
        cost = []
        for angle in _ANGLES:
            turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
            residual = seen @ turn.T - points
            cost.append(((residual @ precision) * residual).sum(axis=(1, 2)))
        best = np.argmin(cost, axis=0)
        away = np.abs(np.angle(np.exp(1j * _ANGLES)))[best] > _OTHER_MINIMUM
        if not away.any():
            return None
        angles = self.angles + np.where(away, _ANGLES[best], 0.0)
        return _Views(self._patches, angles, self.points, self._translations)

    def newton_step(self, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Changes of the angles (p,) and of the points (n, 2) for a fixed covariance S."""
        member, n = self._patches.member, self._patches.num_points
        precision = np.linalg.inv(covariance)
        # The derivative of R(-θ) q by θ, and what the second derivative adds to the curvature.
        slope = np.stack([self._seen[..., 1], -self._seen[..., 0]], axis=-1)
        slope = self._without_shift(slope)
        weighted = self._residual @ precision
        bend = -(weighted * self._seen).sum(axis=(1, 2))
        first = (slope @ precision * slope).sum(axis=(1, 2))
        bend = np.maximum(bend, -(1.0 - _LEAST_CURVATURE) * first)
        count = np.bincount(member.ravel(), minlength=n)

        def apply(x: FloatArray) -> FloatArray:
            d_theta, d_z = x[: len(first)], x[len(first) :].reshape(n, 2)
            change = slope * d_theta[:, None, None] - self._without_shift(d_z[member])
            force = change @ precision
            own = (slope * force).sum(axis=(1, 2)) + bend * d_theta
            return np.concatenate([own, -_sums(member, force, n).ravel()])

        def precondition(x: FloatArray) -> FloatArray:
            own = x[: len(first)] / np.maximum(first + bend, _TINY)
            rest = x[len(first) :].reshape(n, 2) @ covariance / np.maximum(count, 1)[:, None]
            return np.concatenate([own, rest.ravel()])

        downhill = np.concatenate(
            [-(slope * weighted).sum(axis=(1, 2)), _sums(member, weighted, n).ravel()]
        )
        found = _conjugate_gradients(apply, precondition, downhill)
        return found[: len(first)], found[len(first) :].reshape(n, 2)

    def _without_shift(self, values: FloatArray) -> FloatArray:
        """Values less their mean over each patch: the best shift is taken out."""
        if self._translations:
            values = values - values.mean(axis=1, keepdims=True)
        return values


def _sums(member: IntArray, values: FloatArray, n: int) -> FloatArray:
    """Sums (n, 2) of values (p, s, 2) by point."""
    seen = member.ravel()
    return np.stack([np.bincount(seen, values[..., a].ravel(), n) for a in range(2)], axis=1)


def _conjugate_gradients(
    apply: Callable[[FloatArray], FloatArray],
    precondition: Callable[[FloatArray], FloatArray],
    right: FloatArray,
) -> FloatArray:
    """Solve a positive definite system approximately, from 0, so that the step goes downhill."""
    found, residual = np.zeros_like(right), right.copy()
    scaled = precondition(residual)
    direction, size = scaled, float(residual @ scaled)
    goal = _INNER_ACCURACY**2 * size
    for _ in range(_INNER_ITERATIONS):
        if size <= goal or size <= 0.0:
            break
        image = apply(direction)
        curvature = float(direction @ image)
        if curvature <= 0.0:
            break
        step = size / curvature
        found += step * direction
        residual -= step * image
        scaled = precondition(residual)
        size, before = float(residual @ scaled), size
        direction = scaled + (size / before) * direction
    return found
