"""Unrolled steps with robust weights."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import torch
from torch import Tensor, nn

from gnnsync.errors import check_bool, check_integer, check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.edges import edge_difference, gather, per_edge, per_node, pull
from gnnsync.learn.noise import implied_noise
from gnnsync.learn.steps.base import Steps

# Inertia of a node without weight, which has no direction to go to; its square is a float32.
_STILL = 1e-12
# Noise, in radians, to which the scales refer before `calibrate`.
TYPICAL_NOISE = 0.1


class Reweighted(Steps):
    r"""Γ projected gradient steps whose edge weights follow from the present residuals.

    .. math::
        y_i \leftarrow \arg\Bigl(α_γ D_i e^{iy_i} + \sum_j u_{ij} e^{i(a_{ij} + y_j)}\Bigr), \quad
        u = w \Bigl(\frac{c_γ^2}{c_γ^2 + s^2}\Bigr)^2, \quad s^2 = 2 - 2\cos r, \quad
        D_i = \sum_j u_{ij},

    the Geman–McClure weights (Geman and McClure 1985) of graduated non-convexity, with r the
    residual of an edge and s its chord, smooth on the whole circle. An edge with a large
    residual has little weight, where the plain steps give it its full weight. Scale c and inertia α
    are learned per step and replica. c starts falling geometrically, in proportion to the noise
    that the untrained network's angles imply; α starts at one value. For k > 1 an edge's weight is
    shared among the groups in proportion to how well they explain it.

    Args:
        replicas: R.
        count: Γ.
        scale: first c, in units of that noise.
        last_scale: last c.
        alpha: α at the start.
        trainable: learn c and α.
        in_training: False takes the steps only after training.
        competition: power of the weights in which sets share an edge; the larger, the more an edge
            counts for the set that explains it best.
    """

    def __init__(
        self,
        replicas: int,
        count: int = 10,
        scale: float = 4.0,
        last_scale: float = 2.0,
        alpha: float = 1.0,
        trainable: bool = True,
        in_training: bool = True,
        competition: float = 1.0,
    ) -> None:
        super().__init__()
        self.competition = check_real("competition", competition, 0)
        self.count = check_integer("count", count, 1)
        self.scale = check_real("scale", scale, 0, open_low=True)
        self.last_scale = check_real("last_scale", last_scale, 0, self.scale, open_low=True)
        self.start = check_real("alpha", alpha, 0)
        self.in_training = check_bool("in_training", in_training)
        learned = check_bool("trainable", trainable)
        shape = (replicas, self.count)
        self.log_scale = nn.Parameter(torch.empty(shape), requires_grad=learned)
        self.alpha = nn.Parameter(torch.empty(shape), requires_grad=learned)
        self.reset_parameters([])

    @torch.no_grad()
    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """c falling from `scale` to `last_scale` times a noise of 0.1, α at its starting value."""
        fall = torch.linspace(log(self.scale), log(self.last_scale), self.count)
        self.log_scale.copy_(fall.expand_as(self.log_scale) + log(TYPICAL_NOISE))
        self.alpha.fill_(self.start)

    @torch.no_grad()
    def calibrate(self, angles: Tensor, batch: ReplicaBatch) -> None:
        """Scales in units of the noise that `angles` (R, n, k) imply."""
        noise = implied_noise(angles, batch).sigma
        self.log_scale.add_((noise.log() - log(TYPICAL_NOISE)).unsqueeze(1))

    def project(self) -> None:
        """α ≥ 0."""
        with torch.no_grad():
            self.alpha.clamp_(min=0.0)

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R, n, k)."""
        for step in range(self.count):
            angles = self._step(self.hold(angles, batch), batch, step)
        return self.hold(angles, batch)

    def _step(self, angles: Tensor, batch: ReplicaBatch, step: int) -> Tensor:
        residual = edge_difference(angles, batch)
        cos, sin = residual.cos(), residual.sin()
        square = per_edge(torch.exp(2.0 * self.log_scale[:, step]), batch)
        trust = torch.square(square / (square + 2.0 - 2.0 * cos))
        if angles.shape[-1] > 1:
            power = trust**self.competition if self.competition != 1 else trust
            trust = trust * (power / power.sum(dim=-1, keepdim=True))
        trust = trust * batch.weight.unsqueeze(-1)
        # In the frame of each node: e^{i(a + y_j)} = e^{iy_i} e^{∓ir}.
        degree, along = gather(torch.cat([trust, trust * cos], dim=2), batch).chunk(2, dim=1)
        across = -pull(trust * sin, batch)
        inertia = per_node(self.alpha[:, step], batch, angles.shape[-1])
        forward = inertia * degree + along + _STILL
        return angles + batch.replica_nodes(torch.atan2(across, forward))

    def extra_repr(self) -> str:
        """Parameters."""
        return (
            f"count={self.count}, scale={self.scale:g}, last_scale={self.last_scale:g}, "
            f"trainable={self.alpha.requires_grad}, in_training={self.in_training}, "
            f"competition={self.competition:g}"
        )
