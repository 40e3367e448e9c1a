"""Sparse products with a known transpose: the one primitive that touches the graph.

CSR with 32-bit indices, multiplied by MKL on the CPU and cuSPARSE on the GPU. Measured at n = 360
on one thread against a batched dense product, CSR won for every density up to .25 and every width
from 2 columns on, so there is no dense path.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

_INT32_MAX = np.iinfo(np.int32).max


def csr_tensor(matrix: Any, dtype: torch.dtype) -> Tensor:
    """A scipy sparse matrix as a torch CSR tensor, with 32-bit indices where they suffice."""
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    index = np.int32 if max(csr.nnz, *csr.shape) < _INT32_MAX else np.int64
    parts = (csr.indptr.astype(index), csr.indices.astype(index))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*CSR tensor support is in beta.*")
        return torch.sparse_csr_tensor(
            torch.from_numpy(parts[0]),
            torch.from_numpy(parts[1]),
            torch.from_numpy(csr.data).to(dtype),
            size=csr.shape,
            check_invariants=False,
        )


def product(matrix: Tensor, x: Tensor) -> Tensor:
    """Sparse (N, M) times (M, c): a single column is multiplied as the vector it is."""
    if x.shape[1] == 1:
        return torch.mv(matrix, x.view(-1)).unsqueeze(1)
    return torch.mm(matrix, x)


def product_by_columns(matrix: Tensor, columns: Tensor) -> Tensor:
    """Sparse (N, M) times columns given one after the other, (c, M) → (c, N).

    On a CPU each is multiplied on its own: that took a fifth to a half of the time of one product
    with all of them, for matrices with few entries per row.
    """
    if columns.device.type != "cpu":
        return torch.mm(matrix, columns.t()).t()
    found = columns.new_empty(len(columns), matrix.shape[0])
    for column, out in zip(columns.unbind(), found.unbind(), strict=True):
        torch.mv(matrix, column, out=out)
    return found


class LinearOperator(nn.Module):
    """A constant sparse matrix A (rows, cols) that follows its module's device.

    Calling it on X (cols, c) gives A X (rows, c); the gradient uses the stored transpose.
    """

    forward_matrix: Tensor
    backward_matrix: Tensor

    def __init__(self, matrix: Any, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        matrix = sp.csr_array(matrix)
        self.register_buffer("forward_matrix", csr_tensor(matrix, dtype), persistent=False)
        self.register_buffer("backward_matrix", csr_tensor(matrix.T, dtype), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """A x."""
        return _Product.apply(x, self.forward_matrix, self.backward_matrix)

    def extra_repr(self) -> str:
        """Shape and stored entries."""
        matrix = self.forward_matrix
        return f"shape={tuple(matrix.shape)}, entries={matrix.values().numel()}"


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Tensor, transpose: Tensor) -> Tensor:
        ctx.transpose = transpose
        return product(matrix, x)

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor, None, None]:
        return product(ctx.transpose, grad[0]), None, None


class HermitianOperator:
    """u ↦ αu + Hu for complex vectors (N,) or matrices (N, c), H a constant Hermitian matrix.

    A vector is multiplied by H as a complex matrix, several columns by [Re H; Im H] acting on
    their real and imaginary parts: measured at n = 360, the first takes half the time of the second
    for one column, and the second a half to a quarter of the first for more. Each is built when
    first used.
    """

    def __init__(self, matrix: Any, dtype: torch.dtype, device: torch.device) -> None:
        self._source = sp.csr_array(matrix)
        self._dtype, self._device = dtype, device

    @cached_property
    def matrix(self) -> Tensor:
        """H, complex (N, N)."""
        return csr_tensor(self._source, self._dtype.to_complex()).to(self._device)

    @cached_property
    def stacked(self) -> Tensor:
        """[Re H; Im H], real (2N, N)."""
        parts = sp.vstack([self._source.real, self._source.imag], format="csr")
        return csr_tensor(parts, self._dtype).to(self._device)

    def shifted(self, u: Tensor, alpha: Tensor | float, out: Tensor) -> None:
        """Write αu + Hu to `out`; α is a number, or real and shaped like u."""
        factor = 0.0 if isinstance(alpha, Tensor) else alpha
        if u.dim() == 1:
            torch.addmv(u, self.matrix, u, beta=factor, out=out)
        else:
            parts = torch.mm(self.stacked, torch.view_as_real(u).flatten(1))
            by_real, by_imag = torch.view_as_complex(parts.view(2, *u.shape, 2)).unbind()
            torch.add(by_real, by_imag, alpha=1j, out=out)
            if factor:
                out.add_(u, alpha=factor)
        if isinstance(alpha, Tensor):
            out.addcmul_(alpha.to(u.dtype), u)


class Propagation(LinearOperator):
    """Per-graph matrices applied to replica-batched node features.

    `matrices` holds, for each of the G graphs, C matrices (n, n), one per channel. Called on
    X (R, C, n, d) with R = G·T replicas (T trials share their graph's matrices and ride as extra
    columns), it multiplies channel c of replica (g, t) by `matrices[g][c]`.
    """

    def __init__(
        self,
        matrices: Sequence[Sequence[Any]],
        trials: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        blocks = [matrix for channels in matrices for matrix in channels]
        super().__init__(sp.block_diag(blocks, format="csr"), dtype)
        self.graphs, self.channels, self.trials = len(matrices), len(matrices[0]), trials
        self.num_nodes = blocks[0].shape[0]

    def forward(self, x: Tensor) -> Tensor:
        """Shape (R, C, n, d) in and out."""
        rows = super().forward(self.terms(x, 1)[0])
        return self.replicas(rows).flatten(0, 1)

    def polynomial(self, x: Tensor, terms: int) -> Tensor:
        """Σ_h A^h x_h by Horner's rule: x_0 + A(x_1 + A(x_2 + ...)).

        x (R, C, n, terms·d) holds x_0, x_1, ... side by side; the sum is (G, T, C, n, d).
        """
        return _Polynomial.apply(x, terms, self)

    def terms(self, x: Tensor, terms: int) -> tuple[Tensor, ...]:
        """(R, C, n, terms·d) → `terms` matrices (G·C·n, T·d): trials become columns."""
        if self.trials == 1:  # nothing to move: fewer and cheaper views
            if terms == 1:
                return (x.reshape(-1, x.shape[-1]),)
            return x.reshape(-1, terms, x.shape[-1] // terms).transpose(0, 1).contiguous().unbind()
        shape = (self.graphs, self.trials, self.channels, self.num_nodes, terms, -1)
        rows = x.reshape(shape).permute(4, 0, 2, 3, 1, 5)
        return rows.reshape(terms, self.graphs * self.channels * self.num_nodes, -1).unbind()

    def replicas(self, rows: Tensor, terms: int = 1) -> Tensor:
        """(G·C·n, terms·T·d) → (G, T, C, n, terms·d)."""
        if self.trials == 1:
            return rows.view(self.graphs, 1, self.channels, self.num_nodes, -1)
        shape = (self.graphs, self.channels, self.num_nodes, terms, self.trials, -1)
        return rows.view(shape).permute(0, 4, 1, 2, 3, 5).flatten(4)


class _Polynomial(torch.autograd.Function):
    """`Propagation.polynomial`; its adjoint gives x, Aᵀx, (Aᵀ)²x, ... side by side."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, terms: int, propagation: Propagation) -> Tensor:
        ctx.terms, ctx.propagation = terms, propagation
        return evaluate_polynomial(propagation, x, terms)

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor, None, None]:
        return polynomial_adjoint(ctx.propagation, grad[0].flatten(0, 1), ctx.terms), None, None


def evaluate_polynomial(propagation: Propagation, x: Tensor, terms: int) -> Tensor:
    """`Propagation.polynomial` without a gradient."""
    *lower, total = propagation.terms(x, terms)
    for term in reversed(lower):
        total = product(propagation.forward_matrix, total).add_(term)
    return propagation.replicas(total)


def polynomial_adjoint(propagation: Propagation, x: Tensor, terms: int) -> Tensor:
    """(R, C, n, d) → (R, C, n, terms·d): the adjoint of `evaluate_polynomial`."""
    rows = [propagation.terms(x, 1)[0]]
    for _ in range(terms - 1):
        rows.append(product(propagation.backward_matrix, rows[-1]))
    return propagation.replicas(torch.stack(rows, dim=1).flatten(1), terms).flatten(0, 1)
