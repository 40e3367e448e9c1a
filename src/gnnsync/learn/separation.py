"""Separation of the k sets of angles that a network starts from."""

from __future__ import annotations

import torch
from torch import Tensor

from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.steps.reweighted import TYPICAL_NOISE, Reweighted

# Scales of the weights, in radians, and how sharply sets compete for edges. Chosen on k = 3 and 4,
# n = 300, p = 0.17, eta = 0.15 (docs/training.md).
_FIRST_SCALE, _LAST_SCALE, _COMPETITION = 25.0, 0.5, 4.0


@torch.no_grad()
def separated(angles: Tensor, batch: ReplicaBatch, count: int) -> Tensor:
    """The k > 1 sets of angles (R, n, k) after `count` annealed reweighted steps without inertia.

    Deterministic annealing: while the scale of the weights is wide, every set takes part in every
    edge; as it narrows, an edge counts for the set that explains it best, and the sets separate.
    Leading eigenvectors are an arbitrary mixture of the sets, so that sets taken from them need it.
    """
    steps = Reweighted(
        batch.replicas,
        count=count,
        scale=_FIRST_SCALE / TYPICAL_NOISE,
        last_scale=_LAST_SCALE / TYPICAL_NOISE,
        alpha=0.0,
        competition=_COMPETITION,
        trainable=False,
    )
    found: Tensor = steps.to(angles.dtype)(angles, batch)
    return found


def separated_once(angles: Tensor, batch: ReplicaBatch, count: int) -> Tensor:
    """The same, computed once for the trials on a graph that start from the same angles."""
    by_graph = angles.unflatten(0, (batch.num_graphs, batch.trials))
    first = by_graph[:, :1]
    if batch.trials == 1 or batch.known is not None or not (by_graph == first).all():
        return separated(angles, batch, count)
    alone = ReplicaBatch(batch.graphs, 1, batch.dtype, k=batch.k)
    return separated(first.squeeze(1), alone, count).repeat_interleave(batch.trials, 0)
