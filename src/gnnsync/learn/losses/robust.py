"""The robust loss: likelihood of a mixture of inliers and outliers."""

from __future__ import annotations

from math import log

import torch
from torch import Tensor, nn

from gnnsync.errors import check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.edges import edge_difference, per_edge
from gnnsync.learn.noise import (
    LEAST_DOF,
    LEAST_ETA,
    MOST_DOF,
    MOST_SIGMA,
    implied_noise,
    inlier_density,
)

# η stays this far from 0 and 1, where the likelihood of an edge may vanish.
_MARGIN = 0.5 * LEAST_ETA
# σ and ν until `calibrate` fits them: broad noise with tails heavier than normal.
_START_SIGMA, _START_DOF = 0.5, 5.0


class RobustLoss(nn.Module):
    r"""Negative log likelihood of the offsets, relative to all of them being outliers.

    .. math::
        \mathcal{L} = -\frac1m \sum_e w_e \log\Bigl(η + \frac{1-η}{k} \sum_l
        f_{σ,ν}(r_{e,l})\Bigr),

    uniform outliers and, for each of the k groups, inliers whose noise f is Student's t of scale σ
    with ν degrees of freedom (`inlier_density`): normal noise and heavier tails alike. η, σ and ν
    are learned with the network, one of each per replica; before training they are fitted to the
    angles that the network starts from. An edge that the angles cannot explain costs at most
    -log η, however wrong it is, whereas the upset loss grows with its residual.

    Args:
        least_sigma: σ stays above; exact inliers would let it fall to 0 and the loss to -∞.
    """

    def __init__(self, least_sigma: float = 0.02) -> None:
        super().__init__()
        self.least_sigma = check_real(
            "least_sigma", least_sigma, 0, MOST_SIGMA, open_low=True, open_high=True
        )
        self.logit_eta = nn.Parameter(torch.zeros(1))
        self.log_sigma = nn.Parameter(torch.full((1,), log(_START_SIGMA)))
        self.log_dof = nn.Parameter(torch.full((1,), log(_START_DOF)))

    @property
    def eta(self) -> Tensor:
        """η (R,)."""
        return _MARGIN + (1.0 - 2.0 * _MARGIN) * torch.sigmoid(self.logit_eta)

    @property
    def sigma(self) -> Tensor:
        """σ (R,)."""
        return self.log_sigma.exp().clamp(self.least_sigma, MOST_SIGMA)

    @property
    def dof(self) -> Tensor:
        """ν (R,)."""
        return self.log_dof.exp().clamp(LEAST_DOF, MOST_DOF)

    @torch.no_grad()
    def calibrate(self, angles: Tensor, batch: ReplicaBatch) -> None:
        """Give every replica its own noise, that most likely for `angles` (R, n, k)."""
        noise = implied_noise(angles, batch, self.least_sigma)
        self.logit_eta = nn.Parameter(torch.logit((noise.eta - _MARGIN) / (1.0 - 2.0 * _MARGIN)))
        self.log_sigma = nn.Parameter(noise.sigma.log())
        self.log_dof = nn.Parameter(noise.dof.log())

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        # Before `calibrate` all replicas share one noise.
        eta, sigma, dof = (
            per_edge(value.expand(batch.replicas), batch)
            for value in (self.eta, self.sigma, self.dof)
        )
        cos = edge_difference(angles, batch).cos()
        density = inlier_density(cos, sigma, dof).mean(dim=-1)
        eta = eta.squeeze(-1)
        likelihood = torch.log(eta + (1.0 - eta) * density)
        return -((batch.weight * likelihood).sum(dim=1) / batch.num_edges).flatten()

    def extra_repr(self) -> str:
        """Parameters."""
        return f"least_sigma={self.least_sigma:g}"
