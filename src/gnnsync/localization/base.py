"""What the steps of the localization give each other, and the protocol of each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from gnnsync.distance_network import DistanceNetwork
from gnnsync.graph import MeasurementGraph
from gnnsync.positions import Positions
from gnnsync.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class LocalPatches:
    """p small overlapping sets of points, each with positions in a frame of its own.

    Ragged: the members of patch a are `member[indptr[a]:indptr[a + 1]]`, without repetition.

    Args:
        indptr: (p + 1,) first place of each patch, and the total s.
        member: (s,) numbers of the points.
        position: (s, 2) positions in the frame of the patch; None before the embedding.
        deviation: (p,) root mean square residual of the distances of each patch, by the degrees of
            freedom; None before the embedding.
        dropped: why sets of points are no patches: number of sets by reason.
    """

    indptr: IntArray
    member: IntArray
    position: FloatArray | None = None
    deviation: FloatArray | None = None
    dropped: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def members(self, a: int) -> IntArray:
        """Numbers of the points of patch a."""
        return self.member[self.indptr[a] : self.indptr[a + 1]]


@dataclass(frozen=True, eq=False)
class PatchAlignments:
    """Motions that bring one patch onto another, for each of e pairs of patches.

    For the positions x_a, x_b of common points: x_a ≈ R(`rotation`) diag(1, `reflection`) x_b + t.

    Args:
        pairs: (2, e) numbers (a, b) of patches, a < b.
        reflection: (e,) +1 or -1.
        rotation: (e,) angle in radians.
        weight: (e,) precision of the rotation, relative.
        contrast: (e,) evidence for the reflection, ≥ 0: how much worse the other one fits.
        common: (e,) number of common points.
    """

    pairs: IntArray
    reflection: IntArray
    rotation: FloatArray
    weight: FloatArray
    contrast: FloatArray
    common: IntArray


@dataclass(frozen=True, eq=False)
class PatchMeasurements:
    """Patches whose reflections are synchronized, and the graph of their rotations.

    Args:
        patches: with positions; those with sign -1 are not yet reflected.
        signs: (p,) +1 or -1: patch a is reflected (y → -y) before it is rotated.
        alignments: of the pairs of patches that overlap.
        graph: the rotations of the patches: offset θ_a - θ_b of each pair, with the true angles and
            groups where the true points are known.
        diagnostics: further numbers by name.
    """

    patches: LocalPatches
    signs: IntArray
    alignments: PatchAlignments
    graph: MeasurementGraph
    diagnostics: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class PatchChoice(Protocol):
    """Chooses the points of each patch."""

    def __call__(self, network: DistanceNetwork) -> LocalPatches:
        """Patches without positions."""
        ...


@runtime_checkable
class Embedding(Protocol):
    """Places the points of each patch by the distances among them."""

    def __call__(
        self, network: DistanceNetwork, patches: LocalPatches, *, seed: int = 0
    ) -> LocalPatches:
        """The same patches with positions; those that cannot be placed well are dropped."""
        ...


@runtime_checkable
class Alignment(Protocol):
    """Finds the motion between any two patches with at least three common points."""

    def __call__(self, patches: LocalPatches) -> PatchAlignments:
        """Motions of the pairs of patches."""
        ...


@runtime_checkable
class Reflections(Protocol):
    """Decides which patches are mirror images (synchronization over Z2)."""

    def __call__(self, alignments: PatchAlignments, num_patches: int) -> IntArray:
        """Signs (p,), +1 or -1, up to one sign per component."""
        ...


@runtime_checkable
class Translations(Protocol):
    """Places all points by patches of known reflection and rotation."""

    def __call__(
        self, patches: LocalPatches, signs: IntArray, angles: FloatArray, num_points: int
    ) -> FloatArray:
        """Positions (n, 2); NaN for points in no patch."""
        ...


@runtime_checkable
class Repair(Protocol):
    """Looks for a map that fits the distances better than the first one."""

    def __call__(
        self, network: DistanceNetwork, starts: Sequence[FloatArray], *, seed: int = 0
    ) -> FloatArray:
        """Positions (n, 2) of the best map found from any of the starts (n, 2)."""
        ...


@runtime_checkable
class Refinement(Protocol):
    """Fits the positions to all distances."""

    def __call__(self, network: DistanceNetwork, points: FloatArray, *, seed: int = 0) -> Positions:
        """Positions near `points` (n, 2) that fit the distances; NaN marks points without start."""
        ...
