"""Base class of the encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.head import AngleHead, Head, group_scores


class Encoder(nn.Module):
    """A digraph network from node features to node embeddings, R replicas at once.

    Subclasses take `(replicas, in_features, groups, **own)`, declare `embedding` (the width e per
    group), and map features (R, n, in_features) to embeddings (R, n, groups, e) in `forward`.
    Operators that depend on the graphs are built and kept by `batch.operator(key, build)`, so that
    the encoder holds parameters only.
    """

    embedding: int

    def head(self, replicas: int, groups: int) -> Head:
        """The layer that turns this encoder's embeddings into angles."""
        return AngleHead(replicas, groups, self.embedding)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Draw the parameters, replica r from `generators[r]`."""
        raise NotImplementedError

    def forward(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, in_features) → (R, n, groups, e)."""
        raise NotImplementedError

    def scores(self, x: Tensor, vector: Tensor, batch: ReplicaBatch) -> Tensor:
        """Inner products z·a (R, n, groups) of embeddings with the head's a (R, groups, e, 1).

        An encoder whose last layer is linear may compute this without its embeddings.
        """
        return group_scores(self(x, batch), vector)


class AttachedEncoder(Encoder):
    """An encoder of the earlier interface: `attach(batch)` once, then `forward(x)`.

    `attach` is called whenever the batch, or its device, changes.
    """

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        self.embedding = encoder.embedding
        self._attached: tuple[int, torch.device] | None = None

    def head(self, replicas: int, groups: int) -> Head:
        """The encoder's own head."""
        head: Head = self.encoder.head(replicas, groups)
        return head

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Draw the encoder's parameters."""
        self.encoder.reset_parameters(generators)

    def forward(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, in_features) → (R, n, groups, e)."""
        self._attach(batch)
        found: Tensor = self.encoder(x)
        return found

    def scores(self, x: Tensor, vector: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, groups), by the encoder's own method if it has one."""
        self._attach(batch)
        if type(self.encoder).scores is Encoder.scores:
            return group_scores(self.encoder(x), vector)
        found: Tensor = self.encoder.scores(x, vector)
        return found

    def _attach(self, batch: ReplicaBatch) -> None:
        place = (id(batch), batch.device)
        if place != self._attached:
            self.encoder.attach(batch)
            self._attached = place


def with_batch(encoder: Any) -> Encoder:
    """An encoder whose `forward` takes the batch, whichever interface the given one has."""
    return AttachedEncoder(encoder) if hasattr(encoder, "attach") else encoder
