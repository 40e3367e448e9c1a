"""Trained weights of the inductive network in one file, with what is needed to rebuild it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from gnnsync.errors import CheckpointError, GnnsyncError, first_line
from gnnsync.io.files import write_bytes
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.methods.robust.unrolled.weights import shipped_file

__all__ = ["load_weights", "network_arguments", "read_metadata", "save_weights"]

# What the header of a file states; raised when older weights no longer fit the network.
VERSION = "1"
_FORMAT = "gnnsync inductive"
# Largest number of sweeps, bins or hidden units in a file; trained were 10, 32 and 8.
_LARGEST = 1000
# Prefix of the network's parameters in a checkpoint of `InductiveModule`.
_PREFIX = "network."


def save_weights(
    path: str | Path, network: UnrolledPropagation, metadata: Mapping[str, Any] | None = None
) -> None:
    """Write the parameters of `network` as safetensors, atomically.

    Args:
        path: the file.
        network: its constructor arguments go into the header too.
        metadata: facts of the training, values that JSON can hold.
    """
    header = {
        "format": _FORMAT,
        "version": VERSION,
        "network": json.dumps(network_arguments(network)),
        "training": json.dumps(dict(metadata or {})),
    }
    tensors = {
        name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()
    }
    write_bytes(path, save(tensors, header))


def load_weights(path: str | Path | None = None) -> UnrolledPropagation:
    """The trained network, in evaluation mode on the CPU.

    Args:
        path: a file of `save_weights`, or a checkpoint (`.ckpt`) of its training; None for the
            weights that come with the package.
    """
    if path is None:
        with as_file(shipped_file()) as shipped:
            return load_weights(shipped)
    file = Path(path)
    if not file.is_file():
        raise CheckpointError(f"weights = {file}: no such file")
    arguments, stored = _read_checkpoint(file) if file.suffix == ".ckpt" else _read(file)
    sizes = [value for value in arguments.values() if not isinstance(value, bool)]
    # A network is built before its parameters are compared with those of the file.
    if not all(isinstance(size, int) and size <= _LARGEST for size in sizes):
        raise CheckpointError(f"weights = {file}: sizes must be whole numbers up to {_LARGEST}")
    try:
        network = UnrolledPropagation(**arguments)
    except (TypeError, GnnsyncError) as error:
        raise CheckpointError(
            f"weights = {file}: of another network ({first_line(error)}); retrain it"
        ) from None
    _check(file, network.state_dict(), stored)
    network.load_state_dict(stored)
    return network.eval()


def read_metadata(path: str | Path) -> dict[str, Any]:
    """The facts of the training that `save_weights` was given."""
    return _mapping(Path(path), _read_header(Path(path)), "training")


def network_arguments(network: UnrolledPropagation) -> dict[str, Any]:
    """The constructor arguments that determine the network, up to its parameters."""
    first: Any = network.layers[0]
    return {
        "layers": network.num_layers,
        "bins": network.circle.bins,
        "hidden": first.of_graph.inner.out_features,
        "tied": network.tied,
    }


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    header = _read_header(file)
    with safe_open(file, framework="pt") as content:
        tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
    return _mapping(file, header, "network"), tensors


def _mapping(file: Path, header: Mapping[str, str], entry: str) -> dict[str, Any]:
    """The JSON object in an entry of the header."""
    try:
        return dict(json.loads(header[entry]))
    except (LookupError, ValueError, TypeError, RecursionError) as error:
        raise CheckpointError(
            f"weights = {file}: its entry {entry} is damaged ({first_line(error)}); retrain it"
        ) from None


def _read_header(file: Path) -> dict[str, str]:
    try:
        with safe_open(file, framework="pt") as content:
            header = dict(content.metadata() or {})
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"weights = {file}: not a safetensors file ({first_line(error)})"
        ) from None
    if header.get("format") != _FORMAT:
        raise CheckpointError(
            f"weights = {file}: not of the inductive network: the header states no such format"
        )
    if header.get("version") != VERSION:
        raise CheckpointError(
            f"weights = {file}: of version {header.get('version')}, and this is version "
            f"{VERSION}; use the gnnsync that wrote them, or retrain"
        )
    return header


def _read_checkpoint(file: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Arguments and parameters in a checkpoint of `InductiveModule`; the averaged ones."""
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
        arguments, state = dict(content["network"]), dict(content["state_dict"])
    except Exception as error:
        raise CheckpointError(
            f"weights = {file}: not a checkpoint of the inductive network ({first_line(error)})"
        ) from None
    named = {key.removeprefix(_PREFIX): v for key, v in state.items() if key.startswith(_PREFIX)}
    return arguments, named


def _check(file: Path, own: Mapping[str, Tensor], stored: Mapping[str, Tensor]) -> None:
    """Refuse parameters of other shapes, and such that are not finite."""
    shapes = {name: tuple(value.shape) for name, value in own.items()}
    found = {name: tuple(value.shape) for name, value in stored.items()}
    if shapes != found:
        differing = sorted(set(shapes.items()) ^ set(found.items()))[0][0]
        raise CheckpointError(
            f"weights = {file}: {differing} has shape {found.get(differing)} there and "
            f"{shapes.get(differing)} in the network; retrain it"
        )
    for name, value in stored.items():
        if not torch.isfinite(value).all():
            raise CheckpointError(f"weights = {file}: {name} is not finite; retrain it")
