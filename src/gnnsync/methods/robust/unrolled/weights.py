"""Trained weights of the network as NumPy arrays; the torch model reads the same file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

Table = NDArray[np.float32]

# The file that comes with the package, in the folder `weights` beside this module.
_SHIPPED = "gnnsync_inductive.safetensors"


@dataclass(frozen=True, eq=False)
class Perceptron:
    """x ↦ A x + b + C silu(D x + e), on columns; the two products with x are one.

    Args:
        inner: (h + o, i) D above A, for i inputs, h hidden units and o outputs.
        bias: (h + o,) e, then b.
        outer: (o, h) C.
    """

    inner: Table
    bias: Table
    outer: Table

    def __call__(self, x: Table) -> Table:
        """Outputs (o, r) of inputs (i, r)."""
        return self.from_sums(self.inner @ x + self.bias[:, None])

    def from_sums(self, sums: Table) -> Table:
        """Outputs (o, r) from D x + e above A x + b (h + o, r), which are overwritten."""
        hidden = sums[: self.outer.shape[1]]
        hidden /= 1.0 + np.exp(-hidden)
        return sums[len(hidden) :] + self.outer @ hidden


@dataclass(frozen=True, eq=False)
class Weights:
    """Parameters of `gnnsync.learn.inductive.network.UnrolledPropagation`.

    Args:
        num_layers: T, the sweeps for which the network was trained.
        bins: B.
        of_graph: one perceptron per layer, or a single one that is iterated.
        of_arc: the same.
        first: (2,) raw concentration of the first beliefs.
        last: raw temperature of the marginals.
    """

    num_layers: int
    bins: int
    of_graph: tuple[Perceptron, ...]
    of_arc: tuple[Perceptron, ...]
    first: Table
    last: float


def shipped_file() -> Traversable:
    """The weights that come with the package; they need not be there."""
    return files("gnnsync.methods.robust.unrolled") / "weights" / _SHIPPED


@cache
def shipped_weights() -> Weights:
    """The weights that come with the package, read once."""
    with as_file(shipped_file()) as path:
        return read_weights(path)


def read_weights(path: str | Path) -> Weights:
    """The weights of a file of `gnnsync.learn.inductive.weights.save_weights`."""
    with safe_open(path, framework="np") as content:
        arguments = json.loads(content.metadata()["network"])
        tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    return weights_from(arguments, tensors)


def weights_from(arguments: Mapping[str, Any], tensors: Mapping[str, Table]) -> Weights:
    """The weights of a network with these constructor arguments and parameters by name."""
    layers = range(1 if arguments["tied"] else arguments["layers"])
    return Weights(
        num_layers=arguments["layers"],
        bins=arguments["bins"],
        of_graph=tuple(_perceptron(tensors, f"layers.{number}.of_graph") for number in layers),
        of_arc=tuple(_perceptron(tensors, f"layers.{number}.of_arc") for number in layers),
        first=tensors["first"],
        last=float(tensors["last"]),
    )


def _perceptron(tensors: Mapping[str, Table], name: str) -> Perceptron:
    return Perceptron(
        np.concatenate([tensors[f"{name}.inner.weight"], tensors[f"{name}.linear.weight"]]),
        np.concatenate([tensors[f"{name}.inner.bias"], tensors[f"{name}.linear.bias"]]),
        tensors[f"{name}.outer.weight"],
    )
