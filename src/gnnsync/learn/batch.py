"""ReplicaBatch: the graphs and features of one job as constant tensors, built once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from gnnsync.errors import GraphError, ParameterError, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.operators import HermitianOperator, LinearOperator, csr_tensor
from gnnsync.topology import Triangles, draw_triangles

Built = TypeVar("Built")

_DERIVED = (
    "divergence",
    "edge_count",
    "ends",
    "hermitian",
    "incidence",
    "offset_row",
    "own_ends",
    "phases",
    "mean_weight_row",
)


class ReplicaBatch(nn.Module):
    """G graphs of n nodes, each trained on by T trials: R = G·T replicas in one computation.

    Replica r = g·T + t is trial t on graph g. Node quantities are (R, n, ·). Edge quantities are
    laid out (G, m, T, ·) with m the largest number of edges; a missing edge joins node 0 to itself
    with offset and weight 0 and so never counts. In the same way triangles are padded.

    The batch holds everything of a job that training does not change, so that the module holds no
    data: graphs, input features, known angles, seeds, and the operators that encoders derive from
    the graphs (`operator`). Lightning moves it to the device with `to`.

    Args:
        graphs: measurement graphs, all with the same number of nodes.
        trials: T.
        dtype: floating type of the training.
        k: number of groups.
        seeds: one per replica, R numbers; 0, 1, ... by default.
        features: (R, n, f) input of the network; may be set later.
        estimate: the features before their k > 1 sets were separated.
        known: (R, n, k) angles known beforehand, NaN elsewhere; None if there are none.
    """

    offset: Tensor
    weight: Tensor
    mean_weight: Tensor
    num_edges: Tensor
    features: Tensor | None
    known: Tensor | None

    def __init__(
        self,
        graphs: Sequence[MeasurementGraph],
        trials: int = 1,
        dtype: torch.dtype = torch.float32,
        *,
        k: int = 1,
        seeds: Sequence[int] | None = None,
        features: Tensor | None = None,
        known: Tensor | None = None,
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
        self.k = check_integer("k", k, 1)
        self.seeds = self._checked_seeds(seeds)
        self._triangles: dict[int | None, TriangleBatch] = {}
        self._operators: dict[Hashable, Any] = {}
        self.max_edges = max(graph.num_edges for graph in graphs)
        self.register_buffer("features", features, persistent=False)
        self.register_buffer("known", known, persistent=False)
        self.estimate: Tensor | None = None

        shape = (len(graphs), self.max_edges, 1)
        offset, weight = np.zeros(shape), np.zeros(shape)
        for g, graph in enumerate(graphs):
            m = graph.num_edges
            offset[g, :m, 0] = graph.offset
            weight[g, :m, 0] = graph.edge_weight / graph.edge_weight.mean()
        self.register_buffer("offset", torch.tensor(offset, dtype=dtype), persistent=False)
        self.register_buffer("weight", torch.tensor(weight, dtype=dtype), persistent=False)
        counts = torch.tensor([[graph.num_edges] for graph in graphs], dtype=dtype)
        self.register_buffer("num_edges", counts, persistent=False)
        # What an edge adds to the weighted mean over the edges of its graph, (G, m, 1).
        self.register_buffer("mean_weight", self.weight / counts.unsqueeze(-1), persistent=False)

    def _checked_seeds(self, seeds: Sequence[int] | None) -> list[int]:
        if seeds is None:
            return list(range(self.replicas))
        own = [check_integer("seeds", seed, 0) for seed in seeds]
        if len(own) != self.replicas:
            raise ParameterError("seeds", own, f"{self.replicas} numbers, one per replica")
        return own

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
            # What is derived from the graphs is rebuilt on the new device.
            self._triangles, self._operators = {}, {}
            for name in _DERIVED:
                self.__dict__.pop(name, None)
        return self

    def operator(self, key: Hashable, build: Callable[[ReplicaBatch], Built]) -> Built:
        """What `build(self)` returns, built at the first request for `key` and kept.

        Encoders keep their graph operators here. The key names everything that the operator depends
        on beside the graphs, such as `("dimpa", tau)`; `build` places it on `self.device`.
        """
        if key not in self._operators:
            self._operators[key] = build(self)
        found: Built = self._operators[key]
        return found

    def edge_mean(self, values: Tensor) -> Tensor:
        """Weighted mean of (R, m) over the edges of each replica: (R,)."""
        grid = values.view(self.num_graphs, self.trials, -1)
        return torch.bmm(grid, self.mean_weight).flatten()

    @cached_property
    def edge_count(self) -> Tensor:
        """Number of edges of each replica, (R,)."""
        return self.num_edges.expand(-1, self.trials).flatten()

    @cached_property
    def offset_row(self) -> Tensor:
        """Offsets with the edges last, (G, 1, m)."""
        return self.offset.transpose(1, 2)

    @cached_property
    def mean_weight_row(self) -> Tensor:
        """`mean_weight` with the edges last, (G, 1, m)."""
        return self.mean_weight.transpose(1, 2)

    @cached_property
    def own_ends(self) -> tuple[Tensor, Tensor]:
        """Source and destination of every edge as nodes of its graph, (G, 1, m) each."""
        ends = np.zeros((2, self.num_graphs, 1, self.max_edges), dtype=np.int64)
        for g, graph in enumerate(self.graphs):
            ends[:, g, 0, : graph.num_edges] = graph.edge_index
        src, dst = torch.tensor(ends, device=self.device)
        return src, dst

    @cached_property
    def divergence(self) -> Tensor:
        """Transposed incidence matrix (G·n, G·m): sums an edge quantity into its ends."""
        matrix = sp.block_diag([_incidence(g, self.max_edges) for g in self.graphs], format="csr")
        return csr_tensor(matrix.T, self.dtype).to(self.device)

    @cached_property
    def incidence(self) -> LinearOperator:
        """Differences along the edges, (G·m, G·n)."""
        blocks = [_incidence(graph, self.max_edges) for graph in self.graphs]
        return LinearOperator(sp.block_diag(blocks, format="csr"), self.dtype).to(self.device)

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
    def hermitian(self) -> HermitianOperator:
        """H of all graphs, block-diagonal: (G·n, G·n)."""
        blocks = [graph.weighted_hermitian(graph.edge_weight) for graph in self.graphs]
        return HermitianOperator(sp.block_diag(blocks, format="csr"), self.dtype, self.device)

    @property
    def triangles(self) -> TriangleBatch:
        """The triangles of all graphs; an error names the graph that has none."""
        return self.triangles_up_to(None)

    def triangles_up_to(self, limit: int | None) -> TriangleBatch:
        """At most `limit` triangles of every graph, drawn uniformly where there are more."""
        if limit not in self._triangles:
            self._triangles[limit] = TriangleBatch(self, limit).to(self.device)
        return self._triangles[limit]


@dataclass(frozen=True)
class Walks:
    """The triangles of all replicas, one after the other, as closed walks over edges.

    `sides` are three tensors (L,) of positions in [V, -V], for V (R, m) an edge quantity: the
    second half is for edges crossed against their direction. `owner` (L,) is the replica, and
    `rows` (L, 4) has sides and owner of a triangle side by side.
    """

    sides: tuple[Tensor, ...]
    owner: Tensor
    rows: Tensor


class TriangleBatch(nn.Module):
    """Triangles of every graph, padded to (G, t).

    `edges` (3, G·t) are edge positions in the padded layout; `mean_weight` (G, t, 1) is 1 over the
    number of the graph's triangles, and 0 for padding.
    """

    edges: Tensor
    mean_weight: Tensor

    def __init__(self, batch: ReplicaBatch, limit: int | None = None) -> None:
        super().__init__()
        self.found = [_triangles(graph, limit) for graph in batch.graphs]
        counts = [len(triangles) for triangles in self.found]
        if min(counts) == 0:
            raise GraphError(
                f"graph {counts.index(0)} has no triangle, which the cycle loss needs: "
                "use loss=upset, or a denser graph"
            )
        self.count, self.max_edges = max(counts), batch.max_edges
        self._walks: Walks | None = None
        mean_weight = torch.zeros(batch.num_graphs, self.count, 1, dtype=batch.dtype)
        edges = np.zeros((batch.num_graphs, self.count, 3), dtype=np.int64)
        for g, triangles in enumerate(self.found):
            mean_weight[g, : counts[g]] = 1.0 / counts[g]
            edges[g, : counts[g]] = triangles.edges
            edges[g] += g * batch.max_edges
        flat = torch.tensor(edges.reshape(-1, 3).T.copy())
        self.register_buffer("edges", flat, persistent=False)
        self.register_buffer("mean_weight", mean_weight, persistent=False)

    @cached_property
    def sums(self) -> LinearOperator:
        """Signed sums around the triangles: edge quantities (G·m, ·) → (G·t, ·)."""
        blocks = []
        for triangles in self.found:
            row = np.repeat(np.arange(len(triangles)), 3)
            entries = (triangles.signs.ravel(), (row, triangles.edges.ravel()))
            blocks.append(sp.csr_array(entries, shape=(self.count, self.max_edges), dtype=float))
        operator = LinearOperator(sp.block_diag(blocks, format="csr"), self.mean_weight.dtype)
        return operator.to(self.edges.device)

    def walks(self, batch: ReplicaBatch) -> Walks:
        """The triangles of every replica."""
        if self._walks is None:
            half = batch.replicas * batch.max_edges
            index = np.int32 if 2 * half < np.iinfo(np.int32).max else np.int64
            sides, owner = [], []
            for r in range(batch.replicas):
                triangles = self.found[r // batch.trials]
                side = triangles.edges.T + r * batch.max_edges + half * (triangles.signs.T < 0)
                sides.append(side.astype(index))
                owner.append(np.full(len(triangles), r, dtype=np.int64))
            joined = torch.tensor(np.concatenate(sides, axis=1), device=batch.device)
            replica = torch.tensor(np.concatenate(owner), device=batch.device)
            rows = torch.stack([*joined, replica.to(joined.dtype)], dim=1)
            self._walks = Walks(tuple(joined.unbind()), replica, rows)
        return self._walks


def _triangles(graph: MeasurementGraph, limit: int | None) -> Triangles:
    if limit is None:
        return graph.triangles
    return draw_triangles(graph.edge_index, graph.num_nodes, limit, np.random.default_rng(0))


def _incidence(graph: MeasurementGraph, rows: int) -> sp.csr_array:
    """(rows, n) with +1 at the source and -1 at the destination of each edge; padding is empty."""
    m = graph.num_edges
    entry = np.concatenate([np.ones(m), -np.ones(m)])
    row = np.concatenate([np.arange(m), np.arange(m)])
    return sp.csr_array((entry, (row, graph.edge_index.ravel())), shape=(rows, graph.num_nodes))
