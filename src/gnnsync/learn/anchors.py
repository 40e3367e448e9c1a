"""Angles that are known beforehand: semi-supervised synchronization."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from gnnsync.angles import reduce_angle
from gnnsync.errors import (
    DataFileError,
    GraphError,
    ParameterError,
    check_integer,
    check_real,
)
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses import Calibrated
from gnnsync.typing import FloatArray
from gnnsync.units import find_unit


class Anchors(Protocol):
    """Gives the angles of a graph that are known beforehand."""

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray | None:
        """Known angles (n, k), NaN where unknown; None if there are none."""
        ...


@dataclass(frozen=True)
class NoAnchors:
    """Nothing is known but offsets."""

    def __call__(self, graph: MeasurementGraph, k: int) -> None:
        """None."""
        return


@dataclass(frozen=True)
class ShareAnchors:
    """A share of the nodes, drawn at random, with their true angles: for data that hold the truth.

    Args:
        share: of the nodes, in (0, 1]; at least one node is drawn.
        seed: of the draw; the same for every graph.
    """

    share: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        check_real("share", self.share, 0, 1, open_low=True)
        check_integer("seed", self.seed, 0)

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray:
        """True angles of the drawn nodes."""
        if graph.angles is None:
            raise GraphError("the graph has no angles: anchors by share need the truth; use a file")
        if graph.angles.shape[1] != k:
            raise ParameterError("k", k, f"{graph.angles.shape[1]}, the groups of the true angles")
        known = np.full((graph.num_nodes, k), np.nan)
        count = max(round(self.share * graph.num_nodes), 1)
        drawn = np.random.default_rng(self.seed).choice(graph.num_nodes, count, replace=False)
        known[drawn] = graph.angles[drawn]
        return known


@dataclass(frozen=True)
class FileAnchors:
    """Known angles from a text file: node, angle (angle_1 .. angle_k if k > 1) per line.

    Fields are separated by commas, semicolons or blanks; a first line without a number in its
    second field is a header.

    Args:
        path: the file.
        unit: of the angles: radians, degrees or turns.
    """

    path: str
    unit: str = "radians"

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, os.PathLike)) or not os.fspath(self.path):
            raise ParameterError("path", self.path, "the name of a file of known angles")
        find_unit(self.unit)

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray:
        """The file's angles at the nodes of these names."""
        names = graph.node_names or range(graph.num_nodes)
        number = {str(name): i for i, name in enumerate(names)}
        known = np.full((graph.num_nodes, k), np.nan)
        for line, fields in self._lines():
            if len(fields) != k + 1:
                raise DataFileError(
                    f"{self.path}, line {line}: {len(fields)} fields: must be node and {k} angle(s)"
                )
            if fields[0] not in number:
                raise DataFileError(f"{self.path}, line {line}: no node is called {fields[0]!r}")
            known[number[fields[0]]] = [self._angle(field, line) for field in fields[1:]]
        if np.isnan(known).all():
            raise DataFileError(f"{self.path}: holds no angle")
        return find_unit(self.unit).to_radians(known)

    def _lines(self) -> list[tuple[int, list[str]]]:
        try:
            with open(self.path, encoding="utf-8") as handle:
                text = handle.read().replace(",", " ").replace(";", " ")
        except (OSError, UnicodeDecodeError) as error:
            raise DataFileError(f"{self.path}: cannot be read ({error})") from None
        lines = [(i, line.split()) for i, line in enumerate(text.splitlines(), 1) if line.split()]
        if lines and len(lines[0][1]) > 1 and not _is_number(lines[0][1][1]):
            lines = lines[1:]
        return lines

    def _angle(self, field: str, line: int) -> float:
        if not _is_number(field):
            raise DataFileError(f"{self.path}, line {line}: angle {field!r} is not a number")
        return float(field)


class AnchoredLoss(nn.Module):
    r"""A loss with a term for known angles.

    .. math:: \mathcal{L} + \frac{λ}{|K|} \sum_{(i,l) \in K} (1 - \cos(r_{i,l} - R_{i,l}))

    with K the angles of a replica that `batch.known` knows.

    Args:
        loss: the loss of the offsets.
        weight: λ.
    """

    def __init__(self, loss: nn.Module, weight: float = 1.0) -> None:
        super().__init__()
        self.loss, self.weight = loss, weight

    def calibrate(self, angles: Tensor, batch: ReplicaBatch) -> None:
        """Fit the parameters of the loss of the offsets, if it has any."""
        if isinstance(self.loss, Calibrated):
            self.loss.calibrate(angles, batch)

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        target, mean_weight = batch.operator("anchors", _targets)
        off = 1.0 - torch.cos(angles - target)
        loss: Tensor = self.loss(angles, batch)
        return loss + self.weight * (mean_weight * off).sum(dim=(1, 2))

    def extra_repr(self) -> str:
        """λ."""
        return f"weight={self.weight:g}"


def known_angles(
    anchors: Anchors, graphs: Sequence[MeasurementGraph], k: int, trials: int
) -> FloatArray | None:
    """Known angles (R, n, k) of `trials` replicas per graph; None if no graph has any."""
    found = [anchors(graph, k) for graph in graphs]
    if all(known is None for known in found):
        return None
    nothing = np.full((graphs[0].num_nodes, k), np.nan)
    return np.repeat([nothing if known is None else known for known in found], trials, axis=0)


def anchored(angles: FloatArray, known: FloatArray) -> FloatArray:
    """Angles (n, k) rotated, set by set, to fit the known ones (n, k; NaN elsewhere).

    Where an angle is known, the result has it exactly.

    The groups are first matched with those of the anchors.
    """
    given = np.isfinite(known)
    target = np.where(given, known, 0.0)
    agreement = (np.exp(1j * angles).T @ (np.exp(-1j * target) * given)) / len(angles)
    _, group = linear_sum_assignment(np.abs(agreement.T), maximize=True)
    rotated = angles[:, group] - np.angle(agreement[group, np.arange(len(group))])
    return reduce_angle(np.where(given, known, rotated))


def _targets(batch: ReplicaBatch) -> tuple[Tensor, Tensor]:
    """Known angles (R, n, k), 0 elsewhere, and 1/|K| where they are known, 0 elsewhere."""
    assert batch.known is not None, "an anchored loss needs known angles on the batch"
    known = torch.isfinite(batch.known)
    count = known.sum(dim=(1, 2), keepdim=True).clamp_min(1)
    return torch.where(known, batch.known, 0.0), (known / count).to(batch.dtype)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
