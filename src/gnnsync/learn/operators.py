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
        rows = super().forward(self._terms(x, 1)[0])
        return self._replicas(rows).flatten(0, 1)

    def polynomial(self, x: Tensor, terms: int) -> Tensor:
        """Σ_h A^h x_h by Horner's rule: x_0 + A(x_1 + A(x_2 + ...)).

        x (R, C, n, terms·d) holds x_0, x_1, ... side by side; the sum is (G, T, C, n, d).
        """
        *lower, total = self._terms(x, terms)
        for term in reversed(lower):
            total = _ProductSum.apply(total, term, self.forward_matrix, self.backward_matrix)
        return self._replicas(total)

    def _terms(self, x: Tensor, terms: int) -> tuple[Tensor, ...]:
        """(R, C, n, terms·d) → `terms` matrices (G·C·n, T·d): trials become columns."""
        shape = (self.graphs, self.trials, self.channels, self.num_nodes, terms, -1)
        rows = x.reshape(shape).permute(4, 0, 2, 3, 1, 5)
        return rows.reshape(terms, self.graphs * self.channels * self.num_nodes, -1).unbind()

    def _replicas(self, rows: Tensor) -> Tensor:
        """(G·C·n, T·d) → (G, T, C, n, d)."""
        x = rows.view(self.graphs, self.channels, self.num_nodes, self.trials, -1)
        return x.permute(0, 3, 1, 2, 4)


class _ProductSum(torch.autograd.Function):
    """y + A x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, matrix: Tensor, transpose: Tensor) -> Tensor:
        ctx.transpose = transpose
        return torch.addmm(y, matrix, x)

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        return ctx.transpose @ grad[0], grad[0], None, None
