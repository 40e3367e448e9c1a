"""The noise that angles imply: outlier fraction and inlier noise of every replica."""

from __future__ import annotations

import torch
from torch import Tensor

from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.edges import edge_difference, per_edge

# Widest noise: a law of this width is all but uniform on the circle.
MOST_SIGMA = 1.5
# Never certain: an outlier fraction of 0 or 1 could not become anything else.
LEAST_ETA = 0.02

# Noise levels from which EM starts; the most likely end counts.
_STARTS = (0.02, 0.1, 0.4, 1.0)
_EM_STEPS = 15


def inlier_density(cos: Tensor, kappa: Tensor) -> Tensor:
    """Von Mises density of residuals of this cosine, relative to uniform."""
    return torch.exp(kappa * (cos - 1.0)) / torch.special.i0e(kappa)


@torch.no_grad()
def implied_noise(
    angles: Tensor, batch: ReplicaBatch, least_sigma: float = 0.02
) -> tuple[Tensor, Tensor]:
    """η and σ (R,) most likely for angles (R, n, k): uniform outliers, von Mises inliers; by EM."""
    cos = edge_difference(angles, batch).cos()
    best = angles.new_full((3, batch.replicas), -torch.inf)
    for start in _STARTS:
        found = _fit(cos, batch, max(start, least_sigma), least_sigma)
        best = torch.where(found[0] > best[0], found, best)
    # Angles that are no numbers have no likelihood: leave the middle of the range.
    lost = torch.isinf(best[0])
    eta, sigma = (torch.where(lost, 0.5, value) for value in best[1:])
    return eta, sigma


def _fit(cos: Tensor, batch: ReplicaBatch, start: float, least_sigma: float) -> Tensor:
    """Log likelihood, η and σ (3, R) where EM ends that starts from this σ."""
    k = cos.shape[-1]
    weight = batch.weight.unsqueeze(-1)
    total = weight.sum(dim=1).expand(-1, batch.trials, -1).flatten()
    eta = cos.new_full((batch.replicas,), 0.5)
    sigma = cos.new_full((batch.replicas,), start)
    for _ in range(_EM_STEPS):
        part = inlier_density(cos, per_edge(sigma**-2, batch)) * per_edge((1.0 - eta) / k, batch)
        density = part.sum(dim=-1, keepdim=True) + per_edge(eta, batch)
        likelihood = (weight * density.log()).sum(dim=(1, 3)).flatten()
        member = weight * part / density
        count = member.sum(dim=(1, 3)).flatten()
        # E(1 - cos r) = σ²/2 for narrow noise.
        lost = (member * (1.0 - cos)).sum(dim=(1, 3)).flatten() / count.clamp_min(1e-9)
        eta = (1.0 - count / total).clamp(LEAST_ETA, 1.0 - LEAST_ETA)
        sigma = (2.0 * lost).sqrt().clamp(least_sigma, MOST_SIGMA)
    return torch.stack([likelihood, eta, sigma])
