"""DiGCN: digraph inception convolution."""

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

_POWER_ITERATIONS = 10_000


class DiGCN(Encoder):
    r"""Two digraph inception blocks (Tong, Liang, Sun, Li, Rosenblum and Lim, 2020).

    .. math::
        H' = H W_0 + L^{(1)} H W_1 + L^{(2)} H W_2 + b,

    the first order being the Laplacian of the random walk with personalised PageRank and the
    second the proximity through shared sources and shared targets; see `pagerank_matrix` and
    `proximity_matrix`. A is the offsets as edge weights. ReLU and dropout stand between the two
    blocks, which are as wide as the embedding.

    Args:
        replicas: R.
        in_features: columns of the features.
        groups: k.
        width: embedding columns per group, e.
        alpha: teleport probability of the PageRank.
        dropout: fraction of hidden units dropped while training.

    Shapes: X (R, n, in) → Z (R, n, k, width).
    """

    def __init__(
        self,
        replicas: int,
        in_features: int,
        groups: int,
        width: int = 16,
        alpha: float = 0.1,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.width = self.embedding = check_integer("width", width, 1)
        self.alpha = check_real("alpha", alpha, 0, 1, open_low=True)
        self.groups = groups
        hidden = groups * width
        self.first = InceptionBlock(replicas, in_features, hidden)
        self.second = InceptionBlock(replicas, hidden, hidden)
        self.dropout = ReplicaDropout(dropout)

    def propagation(self, batch: ReplicaBatch) -> Propagation:
        """L⁽¹⁾ and L⁽²⁾ of every graph."""
        return batch.operator(("digcn", self.alpha), self._build)

    def _build(self, batch: ReplicaBatch) -> Propagation:
        orders = []
        for graph in batch.graphs:
            walk = random_walk(graph)
            orders.append([pagerank_matrix(walk, self.alpha), proximity_matrix(walk)])
        return Propagation(orders, batch.trials, batch.dtype).to(batch.device)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier weights, zero bias."""
        self.first.reset_parameters(generators)
        self.second.reset_parameters(generators)

    def forward(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, in) → (R, n, k, width)."""
        propagation = self.propagation(batch)
        hidden = self.dropout(torch.relu(self.first(x, propagation)))
        return self.second(hidden, propagation).unflatten(-1, (self.groups, self.width))

    def extra_repr(self) -> str:
        """Parameters."""
        return f"width={self.width}, alpha={self.alpha:g}"


class InceptionBlock(nn.Module):
    """H W₀ + L⁽¹⁾ H W₁ + L⁽²⁾ H W₂ + b: (R, n, in) → (R, n, out)."""

    def __init__(self, replicas: int, in_features: int, out_features: int) -> None:
        super().__init__()
        self.linear = ReplicaLinear(replicas, 3, in_features, out_features)
        self.bias = nn.Parameter(torch.zeros(replicas, 1, out_features))

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier weights, zero bias."""
        self.linear.reset_parameters(generators)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, propagation: Propagation) -> Tensor:
        """`propagation` has the two orders as its channels."""
        mapped = self.linear(x.unsqueeze(1).expand(-1, 3, -1, -1))
        propagated = propagation(mapped[:, 1:])
        return mapped[:, 0] + propagated[:, 0] + propagated[:, 1] + self.bias


def random_walk(graph: MeasurementGraph) -> Any:
    """P = D̃⁻¹(A + I): rows sum to 1."""
    n = graph.num_nodes
    adjacency = sp.csr_array((graph.offset, (graph.src, graph.dst)), shape=(n, n))
    with_loop = sp.csr_array(adjacency + sp.eye_array(n))
    with_loop.eliminate_zeros()
    return sp.csr_array(sp.diags_array(1.0 / with_loop.sum(axis=1)) @ with_loop)


def pagerank_matrix(walk: Any, alpha: float) -> Any:
    r"""First order, symmetrically normalised.

    .. math:: \tfrac12\bigl(\Pi^{1/2} P \Pi^{-1/2} + \Pi^{-1/2} P^\top \Pi^{1/2}\bigr)

    with Π the stationary law of the walk that teleports. In the paper that walk passes through an
    extra node: it is left for that node with probability α and returns to a uniform node.
    """
    root = np.sqrt(stationary_law(walk, alpha))
    half = sp.diags_array(root) @ walk @ sp.diags_array(1.0 / root)
    return _normalise((half + half.T) / 2.0)


def proximity_matrix(walk: Any) -> Any:
    r"""Second order, symmetrically normalised: the mean of :math:`P^\top P` and :math:`P P^\top`.

    Both count only where neither vanishes: two nodes are near if they share a source and a target.
    """
    shared_source, shared_target = sp.csr_array(walk.T @ walk), sp.csr_array(walk @ walk.T)
    pattern = shared_source.astype(bool).multiply(shared_target.astype(bool))
    return _normalise((shared_source + shared_target).multiply(pattern) / 2.0)


def stationary_law(walk: Any, alpha: float, tolerance: float = 1e-14) -> Any:
    """π (n,) with π = (1-α) π P + α·(1/n), by power iteration; it contracts by 1-α per round.

    That is the law of the paper's walk restricted to the n nodes, since the extra node sends all
    it receives, α of their mass, back uniformly.
    """
    n = walk.shape[0]
    law = np.full(n, 1.0 / n)
    backward = sp.csr_array(walk.T)
    for _ in range(_POWER_ITERATIONS):
        following = (1.0 - alpha) * (backward @ law) + alpha / n
        change = np.abs(following - law).sum()
        law = following
        if change <= tolerance:
            break
    return law / law.sum()


def _normalise(matrix: Any) -> Any:
    """D^{-1/2} M D^{-1/2}; every row of M has a positive diagonal entry."""
    matrix = sp.csr_array(matrix)
    scale = sp.diags_array(1.0 / np.sqrt(matrix.sum(axis=1)))
    return sp.csr_array(scale @ matrix @ scale)
