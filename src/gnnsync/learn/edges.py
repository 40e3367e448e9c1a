"""From node angles to edge quantities and back, on the replica axis."""

from __future__ import annotations

from torch import Tensor

from gnnsync.learn.batch import ReplicaBatch


def edge_difference(angles: Tensor, batch: ReplicaBatch) -> Tensor:
    """y[src] - y[dst] - offset of every edge and set, (R, n, k) → (G, m, T, k), not wrapped."""
    g, m, _ = batch.offset.shape
    difference = batch.incidence(batch.node_rows(angles)).view(g, m, batch.trials, -1)
    return difference - batch.offset.unsqueeze(-1)


def pull(value: Tensor, batch: ReplicaBatch) -> Tensor:
    """Sum at the sources minus sum at the destinations: (G, m, ...) → (N, c)."""
    src, dst = batch.ends
    return gather_at(value, src, batch) - gather_at(value, dst, batch)


def gather(value: Tensor, batch: ReplicaBatch) -> Tensor:
    """Sum of an edge quantity over all edges at each node: (G, m, ...) → (N, c)."""
    src, dst = batch.ends
    return gather_at(value, src, batch) + gather_at(value, dst, batch)


def gather_at(value: Tensor, end: Tensor, batch: ReplicaBatch) -> Tensor:
    """Sum of an edge quantity over the edges with this end at each node: (G, m, ...) → (N, c).

    N = G·n rows as in `ReplicaBatch.node_rows`; `end` is one of `batch.ends`.
    """
    rows = value.reshape(end.numel(), -1)
    total = rows.new_zeros(batch.num_graphs * batch.num_nodes, rows.shape[1])
    return total.index_add(0, end, rows)


def per_edge(value: Tensor, batch: ReplicaBatch) -> Tensor:
    """One number per replica (R,) beside edge quantities: (G, 1, T, 1)."""
    return value.view(batch.num_graphs, 1, batch.trials, 1)


def per_node(value: Tensor, batch: ReplicaBatch, k: int) -> Tensor:
    """One number per replica (R,) beside rows of nodes: (N, T·k)."""
    wide = value.view(-1, 1, 1).expand(-1, batch.num_nodes, k)
    return batch.node_rows(wide)
