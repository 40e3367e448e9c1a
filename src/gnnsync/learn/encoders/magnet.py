"""MagNet: Chebyshev filters of the magnetic Laplacian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gnnsync.angles import TWO_PI
from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.operators import Propagation
from gnnsync.learn.replicas import ReplicaDropout, ReplicaLinear


class MagNet(Encoder):
    r"""Two magnetic Chebyshev layers (Zhang, He, Brugnone, Perlmutter and Hirn, 2021).

    .. math::
        X' = \sigma\Bigl(\sum_{j=0}^{K} T_j(\tilde L) X W_j + (1 + i) b\Bigr), \qquad
        \tilde L = -D^{-1/2} A_{sym} D^{-1/2} \odot e^{2\pi i q (A - A^\top)},

    with real W_j and b, :math:`A_{sym} = (A + A^\top)/2`, T_j the Chebyshev polynomials, and the
    complex ReLU σ that keeps z where Re z ≥ 0. A is the offsets as edge weights, so that the phase
    of an edge is 2πq times its offset: q = 1/2π gives the phases of H. Complex features are held
    in real form, the real parts of all nodes above the imaginary ones. Dropout stands between the
    layers. Each of the k groups gets its own `width` real and `width` imaginary columns.

    Args:
        replicas: R.
        in_features: columns of the features, taken as real parts.
        groups: k.
        width: complex embedding columns per group; e = 2·width.
        order: K.
        q: charge of the magnetic Laplacian.
        dropout: fraction of hidden units dropped while training.

    Shapes: X (R, n, in) → Z (R, n, k, 2·width).
    """

    def __init__(
        self,
        replicas: int,
        in_features: int,
        groups: int,
        width: int = 8,
        order: int = 1,
        q: float = 0.25,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.width = check_integer("width", width, 1)
        self.order = check_integer("order", order, 1)
        self.q = check_real("q", q)
        self.groups, self.embedding = groups, 2 * width
        hidden, terms = groups * width, self.order + 1
        self.first = ReplicaLinear(replicas, 1, terms * in_features, hidden, bias=True)
        self.second = ReplicaLinear(replicas, 1, terms * hidden, hidden, bias=True)
        self.dropout = ReplicaDropout(dropout)

    def propagation(self, batch: ReplicaBatch) -> Propagation:
        """The scaled magnetic Laplacian of every graph, in real form."""
        return batch.operator(("magnet", self.q), self._build)

    def _build(self, batch: ReplicaBatch) -> Propagation:
        matrices = []
        for graph in batch.graphs:
            scaled = scaled_magnetic_laplacian(graph, self.q)
            rows = [[scaled.real, -scaled.imag], [scaled.imag, scaled.real]]
            matrices.append([sp.block_array(rows, format="csr")])
        return Propagation(matrices, batch.trials, batch.dtype).to(batch.device)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier weights, zero bias."""
        self.first.reset_parameters(generators)
        self.second.reset_parameters(generators)

    def forward(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, in) → (R, n, k, 2·width)."""
        replicas, n, _ = x.shape
        both = torch.cat([x, torch.zeros_like(x)], dim=1).unsqueeze(1)
        propagation = self.propagation(batch)
        hidden = self.dropout(self._layer(both, self.first, propagation))
        found = self._layer(hidden, self.second, propagation)
        found = found.view(replicas, 2, n, self.groups, self.width)
        return found.permute(0, 2, 3, 1, 4).reshape(replicas, n, self.groups, self.embedding)

    def _layer(self, x: Tensor, linear: ReplicaLinear, propagation: Propagation) -> Tensor:
        """(R, 1, 2n, in) → (R, 1, 2n, hidden)."""
        terms = [x, propagation(x)]
        for _ in range(2, self.order + 1):
            terms.append(2.0 * propagation(terms[-1]) - terms[-2])
        mapped = linear(torch.cat(terms, dim=-1))
        real, imag = mapped.chunk(2, dim=2)
        keep = real >= 0
        return torch.cat([real * keep, imag * keep], dim=2)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"width={self.width}, order={self.order}, q={self.q:g}"


def scaled_magnetic_laplacian(graph: MeasurementGraph, q: float) -> Any:
    """L̃ = 2L/λ_max - I with λ_max = 2, for the normalised L: a complex sparse (n, n) array.

    A node whose offsets are all 0 has no weight in A and keeps a row of zeros.
    """
    n = graph.num_nodes
    # One sum over repeated entries gives A + Aᵀ as real and A - Aᵀ as imaginary part.
    value = np.concatenate([graph.offset * (1 + 1j), graph.offset * (1 - 1j)])
    row, col = np.concatenate([graph.src, graph.dst]), np.concatenate([graph.dst, graph.src])
    matrix = sp.coo_array((value, (row, col)), shape=(n, n)).tocsr()
    degree = matrix.sum(axis=1).real / 2.0
    root = np.divide(1.0, np.sqrt(degree), out=np.zeros(n), where=degree > 0)
    matrix.data = -matrix.data.real / 2.0 * np.exp(1j * TWO_PI * q * matrix.data.imag)
    scale = sp.diags_array(root)
    return sp.csr_array(scale @ matrix @ scale)
