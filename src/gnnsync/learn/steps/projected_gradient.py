"""Unrolled projected gradient steps after the network (the paper's Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gnnsync.errors import check_bool, check_integer, check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses.residual import edge_residual
from gnnsync.learn.steps.base import Steps

# Small enough for any |z| of a node with edges, large enough that 1/|z| stays finite in float32.
_NO_DIRECTION = 1e-20


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

    def _row_alpha(self, batch: ReplicaBatch, k: int) -> Tensor | list[float]:
        """α_γ as Γ numbers if fixed, else beside the rows it scales: (Γ, G·n, T·k)."""
        if not self.alpha.requires_grad:
            return [self.start] * self.count
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

    The steps are many small operations, and a call costs more than its arithmetic: views are made
    once and written into.
    """

    def __init__(self, count: int, like: Tensor) -> None:
        n, c = like.shape
        real = like.new_empty(count, n, 2 * c)
        self.all = torch.view_as_complex(real.view(count, n, c, 2))
        self.each, self.columns = self.all.unbind(), real.unbind()


class _ShiftedProduct:
    """αu + Hu for complex u, H given as the real [Re H; Im H], which acts on u's real columns."""

    def __init__(self, matrix: Tensor, like: Tensor) -> None:
        self.matrix = matrix
        n, c = like.shape
        self.product = like.new_empty(2 * n, 2 * c)
        halves = torch.view_as_complex(self.product.view(2, n, c, 2))
        self.by_real, self.by_imag = halves.unbind()

    def __call__(self, columns: Tensor, u: Tensor, alpha: Tensor | float, out: Tensor) -> None:
        torch.mm(self.matrix, columns, out=self.product)
        torch.add(self.by_real, self.by_imag, alpha=1j, out=out)
        if isinstance(alpha, Tensor):
            out.addcmul_(alpha.to(u.dtype), u)
        else:
            out.add_(u, alpha=alpha)


class _SharedSteps(torch.autograd.Function):
    """All Γ steps on rows (G·n, T·k), with the backward pass written out.

    `alpha` holds Γ numbers, or is a tensor (Γ, G·n, T·k). With u = e^{iy}, z = αu + Hu and
    u' = z/|z| = e^{iy'}, a gradient ḡ with respect to y' gives w = u'·ḡ/|z|,
    ȳ = Re(conj(u)·(αw + Hw)) and ᾱ = -Im(conj(u)·w). H is Hermitian, hence its own adjoint: forward
    and backward use the same product.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, alpha: Tensor | Sequence[float], matrix: Tensor) -> Tensor:
        # Without a gradient to come, every step overwrites the last.
        kept = len(alpha) if any(ctx.needs_input_grad) else 0
        u, z, product = _Phases(kept + 1, rows), _Phases(1, rows), _ShiftedProduct(matrix, rows)
        size = rows.new_empty(kept, *rows.shape)
        torch.polar(torch.ones_like(rows), rows, out=u.each[0])
        for step in range(len(alpha)):
            here, there = (step, step + 1) if kept else (0, 0)
            product(u.columns[here], u.each[here], alpha[step], out=z.each[0])
            torch.sgn(z.each[0], out=u.each[there])
            if kept:
                torch.abs(z.each[0], out=size[step])
        ctx.alpha, ctx.matrix = alpha, matrix
        ctx.save_for_backward(u.all, size)
        return torch.angle(z.each[0])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None]:
        u, size = ctx.saved_tensors
        alpha, grad = ctx.alpha, grads[0]
        w, back, product = _Phases(1, grad), _Phases(1, grad), _ShiftedProduct(ctx.matrix, grad)
        # Where z = 0 there is no direction, u' = 0, and no gradient.
        direction = (u[1:] * size.clamp_min(_NO_DIRECTION).reciprocal_()).unbind()
        conjugate = u.conj().resolve_conj().unbind()
        alpha_grad = torch.zeros_like(alpha) if ctx.needs_input_grad[1] else None
        for step in reversed(range(len(alpha))):
            torch.mul(direction[step], grad, out=w.each[0])
            if alpha_grad is not None:
                alpha_grad[step] = -(conjugate[step] * w.each[0]).imag
            product(w.columns[0], w.each[0], alpha[step], out=back.each[0])
            grad = (conjugate[step] * back.each[0]).real
        return grad, alpha_grad, None


def _separate_steps(angles: Tensor, alpha: Tensor | Sequence[float], batch: ReplicaBatch) -> Tensor:
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
