"""Sparse products with a known transpose: the one primitive that touches the graph.

CSR with 32-bit indices, multiplied by MKL on the CPU and cuSPARSE on the GPU. Measured at n = 360
on one thread against a batched dense product, CSR won for every density up to .25 and every width
from 2 columns on, so there is no dense path.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
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
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transpose @ grad[0], None, None


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
        return self._from_rows(super().forward(self._to_rows(x)))

    def mix(self, x: Tensor, weight: Tensor) -> Tensor:
        """Σ_h ω_h A^h x for ω (R, C, H+1, 1, 1), without leaving the layout of the product."""
        shape = (self.graphs, self.trials, self.channels, weight.shape[2], 1, 1)
        # (H+1, G, C, 1, T, 1): beside the rows as (G, C, n, T, d).
        per_hop = weight.view(shape).permute(3, 0, 2, 4, 1, 5)
        rows = _MixedPaths.apply(
            self._to_rows(x), per_hop, self.forward_matrix, self.backward_matrix
        )
        return self._from_rows(rows)

    def _to_rows(self, x: Tensor) -> Tensor:
        """(R, C, n, d) → (G·C·n, T·d)."""
        d = x.shape[-1]
        if self.trials == 1:
            return x.reshape(-1, d)
        x = x.view(self.graphs, self.trials, self.channels, self.num_nodes, d)
        return x.permute(0, 2, 3, 1, 4).reshape(-1, self.trials * d)

    def _from_rows(self, rows: Tensor) -> Tensor:
        """(G·C·n, T·d) → (R, C, n, d)."""
        if self.trials == 1:
            return rows.view(self.graphs, self.channels, self.num_nodes, -1)
        x = rows.view(self.graphs, self.channels, self.num_nodes, self.trials, -1)
        x = x.permute(0, 3, 1, 2, 4)
        return x.reshape(self.graphs * self.trials, self.channels, self.num_nodes, -1)


class _MixedPaths(torch.autograd.Function):
    """Σ_h ω_h A^h X with the backward pass written out, which needs half as many operations.

    With incoming gradient ḡ: X̄ = Σ_h ω_h (Aᵀ)^h ḡ by Horner's rule, ω̄_h = ⟨ḡ, A^h X⟩.
    """

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, weight: Tensor, matrix: Tensor, transpose: Tensor
    ) -> Tensor:
        hops, g, c, _, t, _ = weight.shape
        n, d = rows.shape[0] // (g * c), rows.shape[1] // t
        paths = rows.new_empty(hops, *rows.shape)
        each, shaped = paths.unbind(), paths.view(hops, g, c, n, t, d).unbind()
        weights = weight.unbind()
        each[0].copy_(rows)
        mixed = weights[0] * shaped[0]
        for h in range(1, hops):
            torch.mm(matrix, each[h - 1], out=each[h])
            mixed.addcmul_(weights[h], shaped[h])
        ctx.save_for_backward(weight, paths)
        ctx.transpose = transpose
        return mixed.view(rows.shape)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        weight, paths = ctx.saved_tensors
        hops, g, c, _, t, _ = weight.shape
        rows = grads[0]
        shape = (g, c, rows.shape[0] // (g * c), t, rows.shape[1] // t)
        grad = rows.view(shape)
        by_weight = (grad * paths.view(hops, *shape)).sum(dim=(3, 5), keepdim=True)
        weights = weight.unbind()
        total = weights[-1] * grad
        for w in weights[-2::-1]:
            total = (ctx.transpose @ total.view(rows.shape)).view(shape)
            total.addcmul_(w, grad)
        return total.view(rows.shape), by_weight, None, None
