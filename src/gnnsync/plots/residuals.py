"""Residuals of a solution: the whole circle, and the peak of the inliers with the fitted law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from gnnsync.metrics import estimate_outliers
from gnnsync.noise_law import LAPLACE, law_density, law_name
from gnnsync.plots.style import UNKNOWN, WRONG, group_colour, note, small_legend
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.units import Unit

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph
    from gnnsync.solution import Solution

# Bins of the whole circle: 5° each. Of the peak: as fine as the number of residuals in it allows.
_CIRCLE_BINS, _MOST_PEAK_BINS, _LEAST_PEAK_BINS = 72, 80, 12
# Half width of the peak in standard deviations, or in scales of a law with heavy tails.
_PEAK_WIDTH, _HEAVY_PEAK_WIDTH = 4.5, 8.0
# Residuals within this are rounding: the offsets are met exactly.
_EXACT = 1e-6
_ITERATIONS = 100
# Room for the legend above the histogram, on a logarithmic axis.
_HEADROOM = 12.0


@dataclass(frozen=True, eq=False)
class ResidualView:
    """The residuals that a solution leaves, and the law that fits them.

    Args:
        residual: (m,) in radians.
        checked: (m,) edges on a cycle; the residual of the others is 0 whatever their offset.
        group: (m,) of each edge.
        k: number of groups.
        outliers: fraction of outliers among the checked edges.
        scale: σ of the law, in radians.
        dof: degrees of freedom of the law, see `gnnsync.noise_law`.
    """

    residual: FloatArray
    checked: BoolArray
    group: IntArray
    k: int
    outliers: float
    scale: float
    dof: float

    @classmethod
    def of(cls, solution: Solution, graph: MeasurementGraph) -> ResidualView:
        """The residuals of a solution; the law is that of its diagnostics, normal without."""
        residual, checked = solution.residual(graph), ~graph.bridges
        dof = solution.diagnostics.get("dof", np.inf)
        outliers, scale = fitted_law(residual[checked], dof)
        return cls(residual, checked, solution.edge_group, solution.k, outliers, scale, dof)

    def groups(self) -> list[FloatArray]:
        """Checked residuals of each group."""
        return [self.residual[self.checked & (self.group == g)] for g in range(self.k)]

    def expected(self, at: FloatArray, width: float) -> FloatArray:
        """Expected number of residuals in bins of this width at given places, in radians."""
        density = (1.0 - self.outliers) * law_density(at, self.scale, self.dof) + self.outliers
        return density * self.checked.sum() * width / (2.0 * np.pi)


def fitted_law(residual: FloatArray, dof: float) -> tuple[float, float]:
    """Fraction of outliers and scale of the law of given degrees of freedom, by EM.

    The same as `estimate_outliers` for normal noise.
    """
    outliers, scale = estimate_outliers(residual)
    if np.isinf(dof) or not len(residual):
        return outliers, scale
    size = np.abs(residual)
    for _ in range(_ITERATIONS):
        density = (1.0 - outliers) * law_density(size, scale, dof)
        inlier = density / np.maximum(density + outliers, np.finfo(float).tiny)
        total = max(float(inlier.sum()), np.finfo(float).tiny)
        if dof == LAPLACE:
            scale = float((inlier * size).sum()) / total
        else:
            weight = inlier * (dof + 1.0) / (dof + (size / scale) ** 2)
            scale = float(np.sqrt((weight * size**2).sum() / total))
        scale = max(scale, _EXACT)
        outliers = 1.0 - total / len(size)
    return outliers, scale


def draw_residuals(axes: Axes, view: ResidualView, unit: Unit) -> None:
    """Histogram over the whole circle on a logarithmic axis, with the fitted law."""
    unchecked = view.residual[~view.checked]
    colours = [group_colour(g) for g in range(view.k)]
    labels = [f"group {g + 1}" if view.k > 1 else "" for g in range(view.k)]
    values = [unit.from_radians(part) for part in view.groups()]
    if len(unchecked):
        values.append(unit.from_radians(unchecked))
        colours.append(UNKNOWN)
        labels.append(f"{len(unchecked)} on no cycle: 0 by construction")
    end = unit.turn / 2.0
    axes.hist(
        values, bins=_CIRCLE_BINS, range=(-end, end), stacked=True, color=colours, label=labels
    )
    if view.checked.any():
        at = np.linspace(-np.pi, np.pi, 721)
        level = view.expected(at, 2.0 * np.pi / _CIRCLE_BINS)
        axes.plot(unit.from_radians(at), level, color=WRONG, linewidth=1, label="fitted law")
        axes.plot([], [], " ", label=f"outliers about {view.outliers:.0%}")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_xlim(-end, end)
    axes.set_ylim(0, _HEADROOM * max(axes.get_ylim()[1], 1.0))
    set_half_turns(axes, unit)
    axes.set_title(f"residuals of {len(view.residual):,} edges")
    axes.set_xlabel(f"angle[src] - angle[dst] - offset{_in(unit)}")
    axes.set_ylabel("edges")
    small_legend(axes)


def draw_peak(axes: Axes, view: ResidualView, unit: Unit) -> None:
    """The inliers close up: histogram on a linear axis with the fitted law and the outliers."""
    axes.set_title("the inliers close up")
    inliers = (1.0 - view.outliers) * view.checked.sum()
    if inliers < 1.0:
        note(axes, "no measurement is checked by others" if not view.checked.any() else "none")
        return
    if np.quantile(np.abs(view.residual[view.checked]), 0.5 * (1.0 - view.outliers)) < _EXACT:
        note(axes, f"{inliers:.0f} measurements are met exactly")
        return
    width = _PEAK_WIDTH if np.isinf(view.dof) else _HEAVY_PEAK_WIDTH
    half = min(width * view.scale, np.pi)
    bins = int(np.clip(np.sqrt(inliers), _LEAST_PEAK_BINS, _MOST_PEAK_BINS))
    end = float(unit.from_radians(half))
    colours = [group_colour(g) for g in range(view.k)]
    values = [unit.from_radians(part) for part in view.groups()]
    axes.hist(values, bins=bins, range=(-end, end), stacked=True, color=colours)
    at = np.linspace(-half, half, 401)
    level = view.expected(at, 2.0 * half / bins)
    label = f"{law_name(view.dof)}, {unit.format(view.scale)}"
    axes.plot(unit.from_radians(at), level, color=WRONG, linewidth=1.4, label=label)
    floor = view.outliers * view.checked.sum() * half / (np.pi * bins)
    axes.axhline(floor, color=WRONG, linewidth=1, linestyle=":", label="outliers")
    axes.set_xlim(-end, end)
    axes.set_xlabel(f"residual{_in(unit)}")
    axes.set_ylabel("edges")
    small_legend(axes)


def set_half_turns(axes: Axes, unit: Unit) -> None:
    """Ticks at ± half a turn and 0."""
    end = unit.turn / 2.0
    names = ["-π", "0", "π"] if unit.name == "radians" else [f"{v:g}" for v in (-end, 0, end)]
    axes.set_xticks([-end, 0.0, end], names)


def _in(unit: Unit) -> str:
    return f" ({unit.symbol})"
