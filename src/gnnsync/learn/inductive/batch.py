"""Measurement graphs of any size as one batch: a disjoint union, with what the network reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.unrolled.start import PreparedGraph
from gnnsync.typing import FloatArray


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """G graphs side by side: n nodes and m edges in all, k groups each.

    Args:
        ends: (2, m) source and destination of every edge.
        residual: (m, k) offset minus the difference of the initial angles.
        node_graph: (n,) number of each node's graph.
        edge_graph: (m,) number of each edge's graph.
        num_graphs: G.
        start: (n, k) initial angles.
        sure: (n,) 1 where the initial angles mean something, 0 where the first belief is uniform.
        sweeps: sweeps beyond the usual number until beliefs have spread over every graph.
        degree: (n,) number of edges at each node.
        weight: (m,) edge weight relative to the graph's mean.
        weighted: whether any weight differs from 1.
        trusted: (m,) 1 for edges known to be inliers, else 0.
        cycles: (m, F) what the triangles say of each edge, see `features`.
        about: (G, F') what triangles and residuals say of the noise of each graph.
        known: (n, k) 1 where the initial angle is an anchor, else 0.
        truth: (n, k) true angles; NaN if unknown.
        group: (m,) true group, -1 for outliers, -2 if unknown.
    """

    ends: Tensor
    residual: Tensor
    node_graph: Tensor
    edge_graph: Tensor
    num_graphs: int
    start: Tensor
    sure: Tensor
    sweeps: int
    degree: Tensor
    weight: Tensor
    weighted: bool
    trusted: Tensor
    cycles: Tensor
    about: Tensor
    known: Tensor
    truth: Tensor
    group: Tensor

    @property
    def k(self) -> int:
        """Number of groups."""
        return self.start.shape[1]

    @property
    def num_nodes(self) -> int:
        """Nodes of all graphs."""
        return self.start.shape[0]

    def to(self, device: torch.device | str) -> GraphBatch:
        """The same batch on a device; Lightning calls this."""
        moved: dict[str, Any] = {
            field.name: value.to(device)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **moved)

    def graph_mean(self, of_edges: Tensor) -> Tensor:
        """Mean over the edges of every graph: (m, F) → (G, F)."""
        total = of_edges.new_zeros((self.num_graphs, of_edges.shape[1]))
        total = total.index_add(0, self.edge_graph, of_edges)
        count = torch.bincount(self.edge_graph, minlength=self.num_graphs)
        return total / count.clamp_min(1)[:, None]


def collate(graphs: Sequence[PreparedGraph]) -> GraphBatch:
    """The disjoint union of prepared graphs with the same k."""
    sizes = [item.graph.num_nodes for item in graphs]
    first = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    edges = [item.graph.num_edges for item in graphs]

    def joined(parts: list[np.ndarray], dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.as_tensor(np.concatenate(parts), dtype=dtype)

    ends = np.concatenate(
        [item.graph.edge_index + shift for item, shift in zip(graphs, first, strict=True)], axis=1
    )
    return GraphBatch(
        ends=torch.as_tensor(ends),
        residual=joined([wrap(-item.graph.residual(item.start)) for item in graphs]),
        node_graph=torch.as_tensor(np.repeat(np.arange(len(graphs)), sizes)),
        edge_graph=torch.as_tensor(np.repeat(np.arange(len(graphs)), edges)),
        num_graphs=len(graphs),
        start=joined([item.start for item in graphs], torch.float64),
        sure=joined([item.sure for item in graphs]),
        sweeps=max(item.sweeps for item in graphs),
        degree=joined([item.degree for item in graphs]),
        weight=joined([_relative_weight(item.graph) for item in graphs]),
        weighted=any(item.graph.weight is not None for item in graphs),
        trusted=joined([item.graph.edge_trusted for item in graphs]),
        cycles=joined([item.cycles for item in graphs]),
        about=joined([item.about[None] for item in graphs]),
        known=joined([_is_known(item) for item in graphs]),
        truth=joined([_truth(item) for item in graphs]),
        group=joined([_group(item.graph) for item in graphs], torch.int64),
    )


def _relative_weight(graph: MeasurementGraph) -> FloatArray:
    weight = graph.edge_weight
    return weight / weight.mean() if len(weight) else weight


def _is_known(item: PreparedGraph) -> FloatArray:
    if item.known is None:
        return np.zeros_like(item.start)
    return np.isfinite(item.known).astype(np.float64)


def _truth(item: PreparedGraph) -> FloatArray:
    angles = item.graph.angles
    return np.full_like(item.start, np.nan) if angles is None else angles


def _group(graph: MeasurementGraph) -> np.ndarray:
    return np.full(graph.num_edges, -2) if graph.group is None else graph.group
