"""Noise model fitted to given angles: outlier fraction and inlier law of every replica."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from gnnsync.angles import TWO_PI
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.edges import edge_difference, per_edge

# Widest noise: a law of this width is all but uniform on the circle.
MOST_SIGMA = 1.5
# Never certain: an outlier fraction of 0 or 1 could not become anything else.
LEAST_ETA = 0.02
# Degrees of freedom of the inlier noise: below, its tails are those of outliers; above, normal.
LEAST_DOF, MOST_DOF = 1.0, 100.0

# Where EM starts; the most likely end counts.
_SIGMAS = (0.02, 0.1, 0.4, 1.0)
_DOFS = (1.5, 5.0, MOST_DOF)
_EM_STEPS = 15
# Least weight of all inliers together, far below that of one edge: no division by 0.
_LEAST_COUNT = 1e-9
# Points at which the law is integrated, dense about 0 where narrow noise has its mass.
_POINTS = 256


class Noise(NamedTuple):
    """Outlier fraction η, scale σ and degrees of freedom ν of every replica, (R,) each."""

    eta: Tensor
    sigma: Tensor
    dof: Tensor


def inlier_density(cos: Tensor, sigma: Tensor, dof: Tensor) -> Tensor:
    r"""Density of residuals of this cosine, relative to uniform: Student's t on the chord.

    .. math:: f(r) \propto \Bigl(1 + \frac{2 - 2\cos r}{ν σ^2}\Bigr)^{-(ν + 1)/2}

    The chord 2 - 2 cos r is r² for small r and smooth on the whole circle. `sigma` and `dof` are
    of one shape that has a last axis of 1 and broadcasts with `cos`.
    """
    u = (torch.arange(_POINTS, dtype=cos.dtype, device=cos.device) + 0.5) / _POINTS
    step = 3.0 * torch.pi * u**2 / _POINTS
    mass = 2.0 * (_unscaled(torch.cos(torch.pi * u**3), sigma, dof) * step).sum(-1, keepdim=True)
    return _unscaled(cos, sigma, dof) * (TWO_PI / mass)


def _unscaled(cos: Tensor, sigma: Tensor, dof: Tensor) -> Tensor:
    square = (2.0 - 2.0 * cos) / (dof * sigma**2)
    return torch.exp(-0.5 * (dof + 1.0) * torch.log1p(square))


@torch.no_grad()
def implied_noise(angles: Tensor, batch: ReplicaBatch, least_sigma: float = 0.02) -> Noise:
    """The noise most likely for angles (R, n, k), by EM from several starts."""
    cos = edge_difference(angles, batch).cos()
    best = angles.new_full((4, batch.replicas), -torch.inf)
    for dof in _DOFS:
        for sigma in _SIGMAS:
            found = _fit(cos, batch, max(sigma, least_sigma), dof, least_sigma)
            best = torch.where(found[0] > best[0], found, best)
    # Angles that are no numbers have no likelihood: leave the middle of the range.
    lost = torch.isinf(best[0])
    return Noise(*(torch.where(lost, 0.5, value) for value in best[1:]))


def _fit(
    cos: Tensor, batch: ReplicaBatch, start: float, freedom: float, least_sigma: float
) -> Tensor:
    """Log likelihood, η, σ and ν (4, R) where EM ends that starts from this σ, ν given."""
    k = cos.shape[-1]
    weight = batch.weight.unsqueeze(-1)
    total = weight.sum(dim=1).expand(-1, batch.trials, -1).flatten()
    eta = cos.new_full((batch.replicas,), 0.5)
    sigma, dof = torch.full_like(eta, start), torch.full_like(eta, freedom)
    square = 2.0 - 2.0 * cos
    for _ in range(_EM_STEPS):
        scale, nu = per_edge(sigma, batch), per_edge(dof, batch)
        part = inlier_density(cos, scale, nu) * per_edge((1.0 - eta) / k, batch)
        density = part.sum(dim=-1, keepdim=True) + per_edge(eta, batch)
        likelihood = (weight * density.log()).sum(dim=(1, 3)).flatten()
        member = weight * part / density
        count = member.sum(dim=(1, 3)).flatten()
        shrunk = member * square * (nu + 1.0) / (nu + square / scale**2)
        eta = (1.0 - count / total).clamp(LEAST_ETA, 1.0 - LEAST_ETA)
        variance = shrunk.sum(dim=(1, 3)).flatten() / count.clamp_min(_LEAST_COUNT)
        sigma = variance.sqrt().clamp(least_sigma, MOST_SIGMA)
    return torch.stack([likelihood, eta, sigma, dof])
