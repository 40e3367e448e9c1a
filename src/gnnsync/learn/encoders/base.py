"""What an encoder is."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.head import AngleHead, Head, group_scores


class Encoder(nn.Module):
    """A digraph network from node features to node embeddings, R replicas at once.

    Subclasses take `(replicas, in_features, groups, **own)`, declare `embedding` (the width e per
    group), build their graph operators in `attach`, and map features (R, n, in_features) to
    embeddings (R, n, groups, e) in `forward`.
    """

    embedding: int

    def attach(self, batch: ReplicaBatch) -> None:
        """Build the operators that depend on the graphs, once per job."""
        raise NotImplementedError

    def head(self, replicas: int, groups: int) -> Head:
        """What turns this encoder's embeddings into angles."""
        return AngleHead(replicas, groups, self.embedding)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Draw the parameters, replica r from `generators[r]`."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """(R, n, in_features) → (R, n, groups, e)."""
        raise NotImplementedError

    def scores(self, x: Tensor, vector: Tensor) -> Tensor:
        """What the head makes of the embeddings: z·a (R, n, groups), for its a (R, groups, e, 1).

        An encoder whose last layer is linear may compute this without its embeddings.
        """
        return group_scores(self(x), vector)
