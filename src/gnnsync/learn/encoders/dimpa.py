"""DIMPA: directed mixed-path aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.operators import Propagation
from gnnsync.learn.replicas import ReplicaDropout, ReplicaLinear


class DIMPA(Encoder):
    r"""Directed mixed-path aggregation (He, Reinert and Cucuringu, DIGRAC, 2022).

    .. math::
        Z_s = \Bigl(\sum_{h=0}^{H} \omega^s_h A_s^h\Bigr)\,
              \mathrm{ReLU}(X W_{s0})\, W_{s1}, \qquad
        A_s = \tilde D^{-1} (A + \tau I),

    with A the offsets as edge weights, and Z_t the same on :math:`A^\top` with its own weights.
    Source and target are two channels of one computation. Each of the k groups gets its own
    `width` source and `width` target columns, so e = 2·width.

    Shapes: X (R, n, in) → Z (R, n, k, 2·width).
    """

    def __init__(
        self,
        replicas: int,
        in_features: int,
        groups: int,
        width: int = 8,
        hops: int = 2,
        tau: float = 0.5,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.width = check_integer("width", width, 1)
        self.hops = check_integer("hops", hops, 0)
        self.tau = check_real("tau", tau, 0, open_low=True)
        self.groups, self.embedding = groups, 2 * width
        hidden = groups * width
        self.first = ReplicaLinear(replicas, 2, in_features, hidden)
        self.second = ReplicaLinear(replicas, 2, hidden, hidden)
        self.dropout = ReplicaDropout(dropout)
        self.hop_weight = nn.Parameter(torch.ones(replicas, 2, hops + 1, 1, 1))
        self.propagation: Propagation | None = None

    def attach(self, batch: ReplicaBatch) -> None:
        """Build A_s and A_t of every graph."""
        sides = [source_target_matrices(graph, self.tau) for graph in batch.graphs]
        self.propagation = Propagation(sides, batch.trials, batch.dtype).to(batch.device)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier layers; all hop weights 1."""
        self.first.reset_parameters(generators)
        self.second.reset_parameters(generators)
        nn.init.ones_(self.hop_weight)

    def forward(self, x: Tensor) -> Tensor:
        """(R, n, in) → (R, n, k, 2·width)."""
        assert self.propagation is not None, "call attach(batch) first"
        replicas, n, _ = x.shape
        hidden = self.dropout(torch.relu(self.first(x.unsqueeze(1).expand(-1, 2, -1, -1))))
        # ω_h (A^h hidden) W₁ = A^h (hidden · ω_h W₁): the hop weights act on small matrices, and
        # one product gives the terms of all hops side by side.
        weight = self.hop_weight * self.second.weight.unsqueeze(2)
        wide = weight.transpose(2, 3).flatten(3)
        terms = torch.bmm(hidden.flatten(0, 1), wide.flatten(0, 1)).view(replicas, 2, n, -1)
        mixed = self.propagation.polynomial(terms, self.hops + 1)
        mixed = mixed.unflatten(-1, (self.groups, self.width)).permute(0, 1, 3, 4, 2, 5)
        return mixed.reshape(replicas, n, self.groups, self.embedding)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"width={self.width}, hops={self.hops}, tau={self.tau:g}"


def source_target_matrices(graph: MeasurementGraph, tau: float) -> tuple[Any, Any]:
    """Row-normalised source and target matrices: rows of A + τI, and of Aᵀ + τI, sum to 1."""
    n = graph.num_nodes
    adjacency = sp.csr_array((graph.offset, (graph.src, graph.dst)), shape=(n, n))
    loop = tau * sp.eye_array(n, format="csr")
    sides = []
    for matrix in (adjacency, adjacency.T):
        with_loop = sp.csr_array(matrix + loop)
        scale = sp.diags_array(1.0 / np.asarray(with_loop.sum(axis=1)).ravel())
        sides.append(scale @ with_loop)
    return sides[0], sides[1]
