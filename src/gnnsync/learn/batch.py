"""ReplicaBatch: the graphs of one job as constant tensors, built once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from gnnsync.errors import GraphError, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.operators import LinearOperator


class ReplicaBatch(nn.Module):
    """G graphs of n nodes, each trained on by T trials: R = G·T replicas in one computation.

    Replica r = g·T + t is trial t on graph g. Node quantities are (R, n, ·). Edge quantities are
    laid out (G, m, T, ·) with m the largest number of edges; a missing edge joins node 0 to itself
    with offset and weight 0 and so never counts. In the same way triangles are padded.

    Args:
        graphs: measurement graphs, all with the same number of nodes.
        trials: T.
        dtype: floating type of the training.
    """

    offset: Tensor
    weight: Tensor
    num_edges: Tensor

    def __init__(
        self,
        graphs: Sequence[MeasurementGraph],
        trials: int = 1,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        sizes = sorted({graph.num_nodes for graph in graphs})
        if not sizes:
            raise GraphError("no graph given: at least one is needed")
        if len(sizes) > 1:
            raise GraphError(f"the graphs of one job have {sizes} nodes: must agree")
        for number, graph in enumerate(graphs):
            if not graph.num_edges:
                raise GraphError(f"graph {number} has no edges: there is nothing to learn from")
        self.graphs = list(graphs)
        self.trials = check_integer("trials", trials, 1)
        self.num_nodes = sizes[0]
        self.dtype = dtype
        self.max_edges = max(graph.num_edges for graph in graphs)

        shape = (len(graphs), self.max_edges, 1)
        offset, weight = np.zeros(shape), np.zeros(shape)
        blocks = []
        for g, graph in enumerate(graphs):
            m = graph.num_edges
            offset[g, :m, 0] = graph.offset
            weight[g, :m, 0] = graph.edge_weight / graph.edge_weight.mean()
            blocks.append(_incidence(graph, self.max_edges))
        self.register_buffer("offset", torch.tensor(offset, dtype=dtype), persistent=False)
        self.register_buffer("weight", torch.tensor(weight, dtype=dtype), persistent=False)
        counts = torch.tensor([[graph.num_edges] for graph in graphs], dtype=dtype)
        self.register_buffer("num_edges", counts, persistent=False)
        self.incidence = LinearOperator(sp.block_diag(blocks, format="csr"), dtype)

    @property
    def num_graphs(self) -> int:
        """G."""
        return len(self.graphs)

    @property
    def replicas(self) -> int:
        """R = G·T."""
        return self.num_graphs * self.trials

    @property
    def device(self) -> torch.device:
        """Where the tensors live."""
        return self.offset.device

    def node_rows(self, x: Tensor) -> Tensor:
        """(R, n, d) → (G·n, T·d): trials of a graph become columns of its nodes."""
        d = x.shape[-1]
        if self.trials == 1:
            return x.reshape(-1, d)
        x = x.view(self.num_graphs, self.trials, self.num_nodes, d)
        return x.transpose(1, 2).reshape(-1, self.trials * d)

    def replica_nodes(self, rows: Tensor) -> Tensor:
        """(G·n, T·d) → (R, n, d): inverse of `node_rows`."""
        if self.trials == 1:
            return rows.view(self.num_graphs, self.num_nodes, -1)
        x = rows.view(self.num_graphs, self.num_nodes, self.trials, -1)
        return x.transpose(1, 2).reshape(self.replicas, self.num_nodes, -1)

    def _apply(self, fn: Any, recurse: bool = True) -> ReplicaBatch:
        before = self.device
        super()._apply(fn, recurse)
        if self.device != before:
            # What is derived from the graphs is rebuilt where they now live.
            for name in ("hermitian", "triangles", "ends", "phases"):
                self.__dict__.pop(name, None)
        return self

    @cached_property
    def ends(self) -> tuple[Tensor, Tensor]:
        """Source and destination of every edge, (G·m,) each, as rows of `node_rows`."""
        ends = np.zeros((2, self.num_graphs, self.max_edges), dtype=np.int64)
        for g, graph in enumerate(self.graphs):
            ends[:, g, : graph.num_edges] = graph.edge_index
            ends[:, g] += g * self.num_nodes
        src, dst = torch.tensor(ends.reshape(2, -1), device=self.device)
        return src, dst

    @cached_property
    def phases(self) -> tuple[Tensor, Tensor]:
        """Real and imaginary part of H[src, dst] = w·e^{ia} of every edge, (G·m, 1) each."""
        phase = np.zeros((self.num_graphs, self.max_edges), dtype=np.complex128)
        for g, graph in enumerate(self.graphs):
            phase[g, : graph.num_edges] = graph.edge_weight * np.exp(1j * graph.offset)
        flat = torch.tensor(phase.reshape(-1, 1), device=self.device)
        return flat.real.to(self.dtype), flat.imag.to(self.dtype)

    @cached_property
    def hermitian(self) -> LinearOperator:
        """Real and imaginary part of H, one above the other: (2·G·n, G·n)."""
        matrix = sp.block_diag(
            [graph.weighted_hermitian(graph.edge_weight) for graph in self.graphs], format="csr"
        )
        operator = LinearOperator(sp.vstack([matrix.real, matrix.imag], format="csr"), self.dtype)
        return operator.to(self.device)

    @cached_property
    def triangles(self) -> TriangleBatch:
        """The triangles of all graphs; an error names the graph that has none."""
        return TriangleBatch(self).to(self.device)


class TriangleBatch(nn.Module):
    """Triangles of every graph, padded to (G, t).

    `sums` maps edge quantities (G·m, ·) to signed sums (G·t, ·); `edges` (3, G·t) are edge
    positions in the padded layout; `real` (G·t,) tells triangles from padding; `share` (G, t, 1) is
    1 over the number of the graph's triangles, and 0 for padding.
    """

    edges: Tensor
    real: Tensor
    share: Tensor

    def __init__(self, batch: ReplicaBatch) -> None:
        super().__init__()
        counts = [len(graph.triangles) for graph in batch.graphs]
        if min(counts) == 0:
            raise GraphError(
                f"graph {counts.index(0)} has no triangle, which the cycle loss needs: "
                "use loss=upset, or a denser graph"
            )
        self.count = max(counts)
        share = torch.zeros(batch.num_graphs, self.count, 1, dtype=batch.dtype)
        edges = np.zeros((batch.num_graphs, self.count, 3), dtype=np.int64)
        blocks = []
        for g, graph in enumerate(batch.graphs):
            t = counts[g]
            share[g, :t] = 1.0 / t
            edges[g, :t] = graph.triangles.edges
            edges[g] += g * batch.max_edges
            row = np.repeat(np.arange(t), 3)
            entries = (graph.triangles.signs.ravel(), (row, graph.triangles.edges.ravel()))
            blocks.append(sp.csr_array(entries, shape=(self.count, batch.max_edges), dtype=float))
        self.sums = LinearOperator(sp.block_diag(blocks, format="csr"), batch.dtype)
        flat = torch.tensor(edges.reshape(-1, 3).T.copy())
        self.register_buffer("edges", flat, persistent=False)
        self.register_buffer("real", share.flatten() > 0, persistent=False)
        self.register_buffer("share", share, persistent=False)


def _incidence(graph: MeasurementGraph, rows: int) -> sp.csr_array:
    """(rows, n) with +1 at the source and -1 at the destination of each edge; padding is empty."""
    m = graph.num_edges
    entry = np.concatenate([np.ones(m), -np.ones(m)])
    row = np.concatenate([np.arange(m), np.arange(m)])
    return sp.csr_array((entry, (row, graph.edge_index.ravel())), shape=(rows, graph.num_nodes))
