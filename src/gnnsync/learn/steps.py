"""Unrolled projected gradient steps after the network (the paper's Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gnnsync.errors import check_bool, check_integer, check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses.residual import edge_residual

# Small enough for any |z| of a node with edges, large enough that 1/|z| stays finite in float32.
_NO_DIRECTION = 1e-20


class Steps(nn.Module):
    """Refinement of angles; R replicas at once.

    `in_training` tells whether the steps are part of the network while it trains; if not, they
    are taken only once, on the trained network's angles.
    """

    in_training: bool = True

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Bring trainable parameters back to their start."""

    def project(self) -> None:
        """Bring parameters back into their allowed range after an optimizer step."""

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R, n, k)."""
        raise NotImplementedError


class NoSteps(Steps):
    """The network's initial angles as they are (ablation)."""

    def __init__(self, replicas: int) -> None:
        super().__init__()

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """Identity."""
        return angles


class ProjectedGradient(Steps):
    r"""Γ projected gradient steps.

    .. math:: y \leftarrow \arg(\alpha_\gamma e^{iy} + H e^{iy}), \qquad \gamma = 1..\Gamma

    Args:
        replicas: R.
        count: Γ.
        alpha: value, or starting value, of every α_γ.
        trainable: learn α per replica and step, kept at 0 or above.
        separate: use H⁽ˡ⁾, the edges that the initial angles assign to group l, for group l.
        in_training: False takes the steps only after training (ablation).
    """

    def __init__(
        self,
        replicas: int,
        count: int = 5,
        alpha: float = 1.0,
        trainable: bool = False,
        separate: bool = False,
        in_training: bool = True,
    ) -> None:
        super().__init__()
        self.count = check_integer("count", count, 1)
        self.start = check_real("alpha", alpha, 0)
        self.separate = check_bool("separate", separate)
        self.in_training = check_bool("in_training", in_training)
        value = torch.full((replicas, self.count), self.start)
        if check_bool("trainable", trainable):
            self.alpha = nn.Parameter(value)
        else:
            self.register_buffer("alpha", value, persistent=False)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """α at its starting value."""
        nn.init.constant_(self.alpha, self.start)

    def project(self) -> None:
        """α ≥ 0."""
        if self.alpha.requires_grad:
            with torch.no_grad():
                self.alpha.clamp_(min=0.0)

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R, n, k), in (-π, π]."""
        k = angles.shape[-1]
        alpha = self._row_alpha(batch, k)
        if self.separate:
            rows = _separate_steps(angles, alpha, batch)
        else:
            matrix = batch.hermitian.forward_matrix
            rows = _SharedSteps.apply(batch.node_rows(angles), alpha, matrix)
        return batch.replica_nodes(rows)

    def _row_alpha(self, batch: ReplicaBatch, k: int) -> Tensor:
        """α_γ beside the rows it scales: (Γ, 1, 1) if fixed, else (Γ, G·n, T·k)."""
        if not self.alpha.requires_grad:
            return self.alpha[0].view(-1, 1, 1)
        nodes = self.alpha.t()[:, :, None, None].expand(-1, -1, batch.num_nodes, k)
        return torch.stack([batch.node_rows(step) for step in nodes])

    def extra_repr(self) -> str:
        """Parameters."""
        return (
            f"count={self.count}, trainable={self.alpha.requires_grad}, "
            f"separate={self.separate}, in_training={self.in_training}"
        )


class _Phases:
    """`count` complex matrices (N, c) in one tensor, each also as the real (N, 2c) it is made of.

    The steps are many small operations. Slicing the views once and writing into them halves the
    number of calls, which is what a step costs.
    """

    def __init__(self, count: int, like: Tensor) -> None:
        n, c = like.shape
        real = like.new_empty(count, n, c, 2)
        self.all = torch.view_as_complex(real)
        self.each = self.all.unbind()
        self.pairs = real.unbind()
        self.columns = real.view(count, n, 2 * c).unbind()


class _HermitianProduct:
    """H u for complex u, by the real matrix [Re H; Im H] on u's pairs of real columns."""

    def __init__(self, matrix: Tensor, like: Tensor) -> None:
        self.matrix = matrix
        n, c = like.shape
        self.product = like.new_empty(2 * n, 2 * c)
        halves = torch.view_as_complex(self.product.view(2, n, c, 2))
        self.by_real, self.by_imag = halves.unbind()

    def __call__(self, columns: Tensor, out: Tensor) -> None:
        torch.mm(self.matrix, columns, out=self.product)
        torch.add(self.by_real, self.by_imag, alpha=1j, out=out)


class _SharedSteps(torch.autograd.Function):
    """All Γ steps on rows (G·n, T·k), with the backward pass written out.

    With u = e^{iy}, z = αu + Hu and u' = z/|z| = e^{iy'}, a gradient ḡ with respect to y' gives
    w = u'·ḡ/|z|, ȳ = Re(conj(u)·(αw + Hw)) and ᾱ = -Im(conj(u)·w). H is Hermitian, hence its own
    adjoint: forward and backward use the same product.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, alpha: Tensor, matrix: Tensor) -> Tensor:
        steps = len(alpha)
        u, z, product = (
            _Phases(steps + 1, rows),
            _Phases(steps, rows),
            _HermitianProduct(matrix, rows),
        )
        torch.polar(torch.ones_like(rows), rows, out=u.each[0])
        for step, a in enumerate(alpha.unsqueeze(-1).unbind()):
            product(u.columns[step], out=z.each[step])
            z.pairs[step].addcmul_(a, u.pairs[step])
            torch.sgn(z.each[step], out=u.each[step + 1])
        ctx.save_for_backward(alpha, u.all, z.all)
        ctx.matrix = matrix
        return torch.angle(z.each[-1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None]:
        alpha, u, z = ctx.saved_tensors
        grad = grads[0]
        w, back = _Phases(1, grad), _Phases(1, grad)
        product = _HermitianProduct(ctx.matrix, grad)
        # Where z = 0 there is no direction, u' = 0, and no gradient.
        direction = (u[1:] / z.abs().clamp_min_(_NO_DIRECTION)).unbind()
        conjugate = u.conj().resolve_conj().unbind()
        alphas = alpha.unsqueeze(-1).unbind()
        alpha_grad = torch.zeros_like(alpha) if ctx.needs_input_grad[1] else None
        for step in reversed(range(len(alpha))):
            torch.mul(direction[step], grad, out=w.each[0])
            if alpha_grad is not None:
                alpha_grad[step] = -(conjugate[step] * w.each[0]).imag
            product(w.columns[0], out=back.each[0])
            back.pairs[0].addcmul_(alphas[step], w.pairs[0])
            grad = (conjugate[step] * back.each[0]).real
        return grad, alpha_grad, None


def _separate_steps(angles: Tensor, alpha: Tensor, batch: ReplicaBatch) -> Tensor:
    """Steps with H⁽ˡ⁾: every edge acts on the group whose initial residual is least."""
    k = angles.shape[-1]
    _, group = edge_residual(angles.detach(), batch)
    member = nn.functional.one_hot(group, k).view(-1, batch.trials * k)
    cos_offset, sin_offset = (part * member for part in batch.phases)
    src, dst = batch.ends
    rows = batch.node_rows(angles)
    for a in alpha:
        cos, sin = rows.cos(), rows.sin()
        real, imag = a * cos, a * sin
        # H[src, dst] = e^{ia} acts on dst's phase, H[dst, src] = e^{-ia} on src's.
        c, s = cos[dst], sin[dst]
        real = real.index_add(0, src, cos_offset * c - sin_offset * s)
        imag = imag.index_add(0, src, cos_offset * s + sin_offset * c)
        c, s = cos[src], sin[src]
        real = real.index_add(0, dst, cos_offset * c + sin_offset * s)
        imag = imag.index_add(0, dst, cos_offset * s - sin_offset * c)
        rows = torch.atan2(imag, real)
    return rows
