"""Any PyTorch Geometric convolution as an encoder."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from gnnsync.errors import ParameterError, check_integer
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.replicas import ReplicaDropout

Convolution = Callable[[int, int], nn.Module]
"""Makes a layer from (in_channels, out_channels)."""


def directed_sage(in_channels: int, out_channels: int, alpha: float = 0.5) -> nn.Module:
    """GraphSAGE along and against the edges (Rossi et al. 2023); α weighs the outgoing side."""
    # Here because it takes seconds to import, and only this encoder needs it.
    from torch_geometric.nn import DirGNNConv, SAGEConv

    # DirGNNConv has a root weight of its own.
    return DirGNNConv(SAGEConv(in_channels, out_channels, root_weight=False), alpha=alpha)


class PyG(Encoder):
    """Two layers of a PyTorch Geometric convolution, with ReLU and dropout between them.

    The layers know nothing of replicas: each replica has layers of its own, and they run one
    after the other. A layer whose `forward` takes `edge_weight` gets the offsets.

    Args:
        replicas: R.
        in_features: columns of the features.
        groups: k.
        conv: makes a layer from (in_channels, out_channels), e.g. a class of
            `torch_geometric.nn`.
        width: embedding columns per group, e.
        dropout: fraction of hidden units dropped while training.

    Shapes: X (R, n, in) → Z (R, n, k, width).
    """

    def __init__(
        self,
        replicas: int,
        in_features: int,
        groups: int,
        conv: Convolution = directed_sage,
        width: int = 16,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.width = self.embedding = check_integer("width", width, 1)
        self.groups = groups
        hidden = groups * width
        # `copy_replicas` finds the owner of a parameter by this name.
        with _lent_generator(0):
            self.replica_modules = nn.ModuleList(
                _TwoLayers(conv, in_features, hidden) for _ in range(replicas)
            )
        self.dropout = ReplicaDropout(dropout)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Each layer's own initialisation, replica r seeded from `generators[r]`."""
        for layers, generator in zip(self.replica_modules, generators, strict=True):
            seed = int(torch.randint(2**62, (), generator=generator))
            with _lent_generator(seed):
                layers.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, in) → (R, n, k, width)."""
        hidden = self.dropout(torch.relu(self._layer("first", x, batch)))
        return self._layer("second", hidden, batch).unflatten(-1, (self.groups, self.width))

    def _layer(self, which: str, x: Tensor, batch: ReplicaBatch) -> Tensor:
        lists = batch.operator("edge lists", _edge_lists)
        rows = []
        for r, layers in enumerate(self.replica_modules):
            rows.append(_call(getattr(layers, which), x[r], *lists[r // batch.trials]))
        return torch.stack(rows)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"width={self.width}"


def _edge_lists(batch: ReplicaBatch) -> list[tuple[Tensor, Tensor]]:
    """Edges (2, m) and offsets (m,) of every graph."""
    return [
        (
            torch.tensor(graph.edge_index, device=batch.device),
            torch.tensor(graph.offset, dtype=batch.dtype, device=batch.device),
        )
        for graph in batch.graphs
    ]


@contextmanager
def _lent_generator(seed: int) -> Iterator[None]:
    """Seed the global generator, which PyTorch Geometric draws from, and put it back after."""
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed)
        yield


class _TwoLayers(nn.Module):
    """The layers of one replica."""

    def __init__(self, conv: Convolution, in_channels: int, hidden: int) -> None:
        super().__init__()
        self.first = _checked(conv, in_channels, hidden)
        self.second = _checked(conv, hidden, hidden)

    def reset_parameters(self) -> None:
        """Draw from the global generator."""
        for layer in (self.first, self.second):
            layer.reset_parameters()  # type: ignore[operator]


def _call(layer: nn.Module, x: Tensor, edges: Tensor, offsets: Tensor) -> Tensor:
    takes_weight = "edge_weight" in inspect.signature(layer.forward).parameters
    found: Tensor = layer(x, edges, edge_weight=offsets) if takes_weight else layer(x, edges)
    return found


def _checked(conv: Convolution, in_channels: int, out_channels: int) -> nn.Module:
    """Make a layer and try it on two nodes, so that a bad choice is refused before any work."""
    try:
        layer = conv(in_channels, out_channels)
        with torch.no_grad():
            edges = torch.tensor([[0], [1]])
            columns = _call(layer, torch.zeros(2, in_channels), edges, torch.ones(1)).shape[-1]
    except Exception as error:
        raise ParameterError(
            "conv",
            conv,
            "something that makes a layer from (in_channels, out_channels) to be called with "
            f"(x, edge_index); {type(error).__name__}: {error}",
        ) from error
    if columns != out_channels:
        allowed = f"a layer that gives {out_channels} columns when asked to; it gives {columns}"
        raise ParameterError("conv", conv, allowed)
    return layer
