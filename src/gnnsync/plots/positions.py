"""Maps of located points: 95 % ellipses, anchors, rejected distances, the truth if it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure

from gnnsync.plots.style import FAINT, GROUPS, MANY_MARKS, UNKNOWN, WRONG, note, small_legend
from gnnsync.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from gnnsync.distance_network import DistanceNetwork
    from gnnsync.positions import Positions

_FOUND, _TRUE, _ANCHOR = GROUPS[0], "#222222", GROUPS[2]
# A distance of less confidence is drawn as rejected.
REJECTED = 0.5
_WIDTH, _FLATTEST, _TALLEST = 7.0, 0.45, 1.4
# Points are drawn smaller the more there are, between these areas in points².
_SMALLEST, _LARGEST, _AREA = 2.0, 16.0, 3000.0
# Ellipses longer than this part of the map would hide it; their points are drawn hollow instead.
_LONGEST = 0.5


def positions_figure(network: DistanceNetwork, positions: Positions, *, title: str = "") -> Figure:
    """The map: points with 95 % ellipses, anchors, rejected distances, and errors if known.

    Points that the distances do not determine are hollow and grey. Where the network holds the
    truth, a line leads from each point to its true place; the positions have to be aligned with it
    (`gnnsync.positions.aligned_positions`).

    Args:
        network: the distances.
        positions: what was located.
        title: of the figure.
    """
    points, located = positions.points, positions.located
    figure = Figure(figsize=(_WIDTH, _WIDTH * _proportion(points[located])), layout="constrained")
    axes = figure.subplots()
    if not located.any():
        note(axes, "no point has a position")
        return figure
    many = network.num_edges > MANY_MARKS
    ends = located[network.pairs].all(axis=0)
    rejected = ends & (positions.edge_confidence < REJECTED)
    _lines(axes, _ends(network, points, ends & ~rejected), "", FAINT, 0.3, many)
    _lines(axes, _ends(network, points, rejected), "rejected distances", WRONG, 0.7, many)
    if network.points is not None:
        errors = np.stack([points, network.points], axis=1)[located]
        _lines(axes, errors, "to the true place", _TRUE, 0.8, many, count=False)
    _ellipses(axes, positions)
    _dots(axes, network, positions)
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    if title:
        axes.set_title(title)
    small_legend(axes, loc="upper left", bbox_to_anchor=(0.0, -0.09), ncols=4)
    return figure


def error_figure(network: DistanceNetwork, positions: Positions) -> Figure:
    """The error of each point against the radius of its 95 % ellipse; both axes logarithmic.

    Points below the diagonal are nearer to the truth than their ellipse is long.
    """
    assert network.points is not None
    figure = Figure(figsize=(5.0, 4.4), layout="constrained")
    axes = figure.subplots()
    error = np.linalg.norm(positions.points - network.points, axis=1)
    radius = positions.ellipses[0][:, 0]
    shown = np.isfinite(error) & np.isfinite(radius) & (radius > 0) & (error > 0)
    if not shown.any():
        note(axes, "no point has both an error and an ellipse")
        return figure
    axes.scatter(radius[shown], error[shown], s=8, color=_FOUND, linewidths=0, alpha=0.6)
    low, high = radius[shown].min(), radius[shown].max()
    axes.plot([low, high], [low, high], color=UNKNOWN, linewidth=1)
    below = float((error[shown] <= radius[shown]).mean())
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("long half axis of the 95 % ellipse")
    axes.set_ylabel("distance from the true place")
    axes.set_title(f"{below:.1%} of the points are below the line")
    return figure


def _dots(axes: Axes, network: DistanceNetwork, positions: Positions) -> None:
    points, located, known = positions.points, positions.located, positions.localizable
    anchor = np.zeros(len(points), dtype=bool)
    anchor[network.anchor_index] = True
    area = float(np.clip(_AREA / max(len(points), 1), _SMALLEST, _LARGEST))
    kinds: list[tuple[str, BoolArray, dict[str, Any]]] = [
        ("located", located & known & ~anchor, {"color": _FOUND, "linewidths": 0}),
        (
            "not determined",
            located & ~known & ~anchor,
            {"facecolors": "none", "edgecolors": UNKNOWN, "linewidths": 0.9},
        ),
        ("anchors", located & anchor, {"color": _ANCHOR, "linewidths": 0, "marker": "s"}),
    ]
    for label, chosen, look in kinds:
        if chosen.any():
            size = area if label == "located" else 2.0 * area
            text = f"{label} ({chosen.sum()})"
            x, y = points[chosen].T
            axes.scatter(x, y, s=size, label=text, zorder=3, **look)


def _ellipses(axes: Axes, positions: Positions) -> None:
    half, direction = positions.ellipses
    points = positions.points
    extent = float(np.ptp(points[positions.located], axis=0).max())
    shown = positions.located & (half[:, 0] > 0) & (half[:, 0] <= _LONGEST * extent)
    if not shown.any():
        return
    axes.add_collection(
        EllipseCollection(
            2.0 * half[shown, 0],
            2.0 * half[shown, 1],
            np.degrees(direction[shown]),
            units="xy",
            offsets=points[shown],
            offset_transform=axes.transData,
            facecolors=_FOUND,
            edgecolors=_FOUND,
            linewidths=0.4,
            alpha=0.25,
            rasterized=bool(shown.sum() > MANY_MARKS),
        )
    )
    # Legends cannot show a collection of ellipses.
    look: dict[str, Any] = {"marker": "o", "markersize": 9, "linestyle": "", "alpha": 0.3}
    axes.plot([], [], color=_FOUND, label="95 % ellipses", **look)


def _ends(network: DistanceNetwork, points: FloatArray, chosen: BoolArray) -> FloatArray:
    """Positions (e, 2, 2) of the two points of each distance."""
    return points[network.pairs[:, chosen].T]


def _lines(
    axes: Axes,
    ends: FloatArray,
    label: str,
    colour: str,
    width: float,
    many: bool,
    count: bool = True,
) -> None:
    if len(ends):
        text = f"{label} ({len(ends)})" if label and count else label
        axes.add_collection(
            LineCollection(
                list(ends), colors=colour, linewidths=width, label=text or None, rasterized=many
            )
        )


def _proportion(points: FloatArray) -> float:
    """Height over width of the figure."""
    if len(points) < 2:
        return _FLATTEST
    width, height = np.maximum(np.ptp(points, axis=0), 1e-300)
    return float(np.clip(height / width, _FLATTEST, _TALLEST)) + 0.1
