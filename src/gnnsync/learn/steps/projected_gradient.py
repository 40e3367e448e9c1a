"""Unrolled projected gradient steps after the network (the paper's Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gnnsync.errors import check_bool, check_integer, check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses.residual import replica_residual
from gnnsync.learn.operators import HermitianOperator
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
            rows = batch.node_rows(angles)
            if rows.shape[1] == 1:
                rows = rows.squeeze(1)
            rows = _SharedSteps.apply(rows, alpha, batch.hermitian)
        return batch.replica_nodes(rows)

    def _row_alpha(self, batch: ReplicaBatch, k: int) -> Tensor | list[float]:
        """α_γ as Γ numbers if fixed, else beside the rows it scales: (Γ, G·n, T·k)."""
        if not self.alpha.requires_grad:
            return [self.start] * self.count
        nodes = self.alpha.t()[:, :, None, None].expand(-1, -1, batch.num_nodes, k)
        rows = torch.stack([batch.node_rows(step) for step in nodes])
        return rows.squeeze(2) if rows.shape[2] == 1 and not self.separate else rows

    def extra_repr(self) -> str:
        """Parameters."""
        return (
            f"count={self.count}, trainable={self.alpha.requires_grad}, "
            f"separate={self.separate}, in_training={self.in_training}"
        )


class _SharedSteps(torch.autograd.Function):
    """All Γ steps on rows (N,) or (N, c), with the backward pass written out.

    `alpha` holds Γ numbers, or is a tensor (Γ, *rows). With u = e^{iy}, z = αu + Hu and
    u' = z/|z| = e^{iy'}, a gradient ḡ with respect to y' gives w = u'·ḡ/|z|,
    ȳ = Re(conj(u)·(αw + Hw)) and ᾱ = -Im(conj(u)·w). H is Hermitian, hence its own adjoint: forward
    and backward use the same product. A call costs more than its arithmetic on small graphs:
    buffers are split once and written into.
    """

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, alpha: Tensor | Sequence[float], hermitian: HermitianOperator
    ) -> Tensor:
        # Without a gradient to come, every step overwrites the last.
        kept = len(alpha) if any(ctx.needs_input_grad) else 0
        u, z = _phases(kept + 1, rows), _phases(max(kept, 1), rows)
        before, after, product = u.unbind(), u[bool(kept) :].unbind(), z.unbind()
        torch.polar(torch.ones_like(rows), rows, out=before[0])
        for step in range(len(alpha)):
            slot = step if kept else 0
            hermitian.shifted(before[slot], alpha[step], out=product[slot])
            torch.sgn(product[slot], out=after[slot])
        if kept:
            ctx.alpha, ctx.hermitian = alpha, hermitian
            ctx.save_for_backward(u, z)
        return torch.angle(product[-1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None]:
        u, z = ctx.saved_tensors
        alpha, grad = ctx.alpha, grads[0]
        # Where z = 0 there is no direction, u' = 0, and no gradient.
        direction = (u[1:] / z.abs().clamp_min_(_NO_DIRECTION)).unbind()
        conjugate = u.conj().resolve_conj().unbind()
        alpha_grad = torch.zeros_like(alpha) if ctx.needs_input_grad[1] else None
        w, back = _phases(2, grad).unbind()
        for step in reversed(range(len(alpha))):
            torch.mul(direction[step], grad, out=w)
            if alpha_grad is not None:
                alpha_grad[step] = -(conjugate[step] * w).imag
            ctx.hermitian.shifted(w, alpha[step], out=back)
            grad = (conjugate[step] * back).real
        return grad, alpha_grad, None


def _phases(count: int, like: Tensor) -> Tensor:
    """Room for `count` complex tensors of the shape of a real one."""
    return like.new_empty((count, *like.shape), dtype=like.dtype.to_complex())


def _separate_steps(angles: Tensor, alpha: Tensor | Sequence[float], batch: ReplicaBatch) -> Tensor:
    """Steps with H⁽ˡ⁾: every edge acts on the group whose initial residual is least."""
    k = angles.shape[-1]
    _, group = replica_residual(angles.detach(), batch)
    group = group.view(batch.num_graphs, batch.trials, -1).transpose(1, 2).long()
    member = nn.functional.one_hot(group, k).reshape(-1, batch.trials * k)
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
