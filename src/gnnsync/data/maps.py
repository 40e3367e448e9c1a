"""What a solution gives beyond its angles: columns, arrays and figures; the map of the patches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from gnnsync.metrics import average_normalized_error
from gnnsync.typing import ComplexArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@runtime_checkable
class Reconstruction(Protocol):
    """What data make of the angles of a solution: the thing that the angles were wanted for."""

    def columns(self) -> Mapping[str, Any]:
        """Further columns of the result row."""
        ...

    def arrays(self) -> Mapping[str, Any]:
        """Arrays for the file of solutions."""
        ...

    def figures(self) -> Mapping[str, Figure]:
        """Figures for the folder of the job, by name."""
        ...


@dataclass(frozen=True, eq=False)
class PatchPair:
    """Two overlapping patches of s points at each stage, as an example for figures.

    Args:
        member: (2, s) numbers of the points in each patch.
        noisy: (2, s) complex positions after noise was added.
        rotated: (2, s) the same after the rotation by the true angle.
        aligned: (2, s) the same after the rotation back by the estimated angle.
    """

    member: IntArray
    noisy: ComplexArray
    rotated: ComplexArray
    aligned: ComplexArray


@dataclass(frozen=True, eq=False)
class Map:
    """True points and those recovered from the patches, (n, 2) each.

    The estimated angles are first aligned with the truth by one common rotation: the circular mean
    of the differences for `recovered`, their arithmetic mean, as the paper does, for
    `recovered_paper`. `further` holds other columns by name.
    """

    points: FloatArray
    recovered: FloatArray
    recovered_paper: FloatArray
    pair: PatchPair
    title: str = ""
    further: Mapping[str, float] = field(default_factory=dict)

    def columns(self) -> dict[str, float]:
        """Average normalized error: `ane`, `ane_paper` with the paper's alignment; and others."""
        return {
            "ane": average_normalized_error(self.recovered, self.points),
            "ane_paper": average_normalized_error(self.recovered_paper, self.points),
            **self.further,
        }

    def arrays(self) -> dict[str, FloatArray]:
        """True and recovered points."""
        return {"points": self.points, "recovered": self.recovered}

    def figures(self) -> dict[str, Figure]:
        """The map, the error of each point, and two patches at each stage."""
        # Matplotlib takes half a second to load, and only figures need it.
        from gnnsync.plots.maps import reconstruction_figures

        return reconstruction_figures(self)
