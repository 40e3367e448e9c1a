"""The summary that `gnnsync locate` prints: what was located, how well, and what was not."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import printable
from gnnsync.positions import Positions
from gnnsync.solution import plain_name
from gnnsync.typing import BoolArray

# A distance of less confidence counts as rejected.
_REJECTED = 0.5
# Rejected distances, and points that are not localizable, that the summary names.
_MOST_NAMED = 5
# Distances that a point needs to be at one place only: two leave its mirror image.
_LEAST_DISTANCES = 3
_FRAMES = {
    0: "free: any place, orientation and mirror image",
    1: "one anchor: any orientation and mirror image",
    2: "two anchors: either mirror image",
}


def summarize_positions(network: DistanceNetwork, positions: Positions) -> dict[str, Any]:
    """Counts, noise, rejected distances, radii of the 95 % ellipses, and what has no place.

    `radius_median` and `radius_worst` are long half axes of the 95 % ellipses; `noise` is the root
    mean square residual of the accepted distances relative to their length, or, as `noise_stated`,
    to the stated deviations.
    """
    radius = positions.ellipses[0][:, 0]
    known = np.flatnonzero(np.isfinite(radius) & positions.localizable)
    worst = int(known[np.argmax(radius[known])]) if len(known) else None
    rejected = positions.edge_confidence < _REJECTED
    anchors = np.bincount(network.component[network.anchor_index], minlength=network.num_components)
    loose = ~positions.localizable
    return {
        "points": network.num_points,
        "distances": network.num_edges,
        "anchors": network.num_anchors,
        "components": network.num_components,
        "anchors_of_components": anchors.tolist(),
        "localizable": int(positions.localizable.sum()),
        "not_localizable": [plain_name(network.name(i)) for i in np.flatnonzero(loose).tolist()],
        "reasons": _reasons(network, loose),
        "radius_median": float(np.median(radius[known])) if len(known) else None,
        "radius_worst": None if worst is None else float(radius[worst]),
        "point_worst": None if worst is None else plain_name(network.name(worst)),
        **_noise(network, positions, ~rejected),
        "rejected": int(rejected.sum()),
        "worst_distances": _worst(network, positions, rejected),
        "converged": bool(positions.converged),
        "iterations": int(positions.iterations),
        "stop_reason": positions.stop_reason,
        "seconds_solve": float(positions.seconds),
    }


def summary_text(summary: dict[str, Any]) -> str:
    """One line per figure, with its name in front; the worst distances follow."""
    ended = "converged" if summary["converged"] else "NOT converged"
    points, found = summary["points"], summary["localizable"]
    lines = {
        "points": f"{points}, {found} of them localizable",
        "distances": f"{summary['distances']}, {_rejected_text(summary)}",
        "anchors": summary["anchors"] or None,
        "frame": _frame_text(summary),
        "method": f"{summary['method']}, {ended}: {summary['stop_reason']}",
        "noise": _noise_text(summary),
        "95 % radius": _radius_text(summary),
        "no place": _loose_text(summary),
        "time": f"{summary['seconds_read']:.2f} s to read, "
        f"{summary['seconds_solve']:.2f} s to solve",
    }
    text = [f"{name:<11} {value}" for name, value in lines.items() if value is not None]
    return "\n".join([*text, *_worst_lines(summary)])


def _reasons(network: DistanceNetwork, loose: BoolArray) -> dict[str, int]:
    """How many points are not localizable, by the reason."""
    few = loose & (network.degree < _LEAST_DISTANCES)
    reasons = {
        "fewer than three distances": int(few.sum()),
        "a part that can move or flip against the rest": int((loose & ~few).sum()),
    }
    return {reason: count for reason, count in reasons.items() if count}


def _noise(
    network: DistanceNetwork, positions: Positions, accepted: BoolArray
) -> dict[str, float | None]:
    """Root mean square residual of the distances between good points, by degrees of freedom."""
    good = positions.localizable & positions.located
    used = accepted & good[network.pairs].all(axis=0)
    freedom = int(used.sum()) - 2 * int(good.sum()) + 3
    none: dict[str, float | None] = {"noise": None, "noise_stated": None}
    if freedom <= 0 or not used.any():
        return none
    residual = network.residual(positions.points)[used]
    relative = residual / network.distance[used]
    none["noise"] = float(np.sqrt(np.sum(relative**2) / freedom))
    if network.deviation is not None:
        stated = residual / network.deviation[used]
        none["noise_stated"] = float(np.sqrt(np.sum(stated**2) / freedom))
    return none


def _worst(
    network: DistanceNetwork, positions: Positions, rejected: BoolArray
) -> list[dict[str, Any]]:
    """The rejected distances of the largest residuals."""
    residual = network.residual(positions.points)
    found = np.flatnonzero(rejected & np.isfinite(residual))
    order = found[np.argsort(-np.abs(residual[found]) / network.distance[found], kind="stable")]
    return [
        {
            "i": plain_name(network.name(int(network.pairs[0, e]))),
            "j": plain_name(network.name(int(network.pairs[1, e]))),
            "distance": float(network.distance[e]),
            "residual": float(residual[e]),
            "confidence": float(positions.edge_confidence[e]),
        }
        for e in order[:_MOST_NAMED].tolist()
    ]


def _rejected_text(summary: dict[str, Any]) -> str:
    count = summary["rejected"]
    return f"{count} of them rejected" if count else "none of them rejected"


def _frame_text(summary: dict[str, Any]) -> str:
    """What determines place and orientation of the map."""
    anchors = summary["anchors_of_components"]
    if len(anchors) == 1:
        return _FRAMES.get(anchors[0], "that of the anchors")
    fixed = sum(count >= len(_FRAMES) for count in anchors)
    return (
        f"{len(anchors)} components without distances between them, {fixed} of them fixed by three "
        "or more anchors; the others have no place relative to each other"
    )


def _noise_text(summary: dict[str, Any]) -> str:
    if summary["noise"] is None:
        return "unknown: no more distances than they need"
    text = f"about {summary['noise']:.2%} of a distance"
    stated = summary["noise_stated"]
    return text if stated is None else f"{text}, {stated:.3g} times the stated sigma"


def _radius_text(summary: dict[str, Any]) -> str | None:
    if summary["radius_median"] is None:
        return None
    worst = printable(summary["point_worst"])
    return (
        f"{summary['radius_median']:.3g} for the median point, {summary['radius_worst']:.3g} for "
        f"the worst, {worst}"
    )


def _loose_text(summary: dict[str, Any]) -> str | None:
    names = summary["not_localizable"]
    if not names:
        return None
    reasons = ", ".join(f"{count} with {reason}" for reason, count in summary["reasons"].items())
    shown = ", ".join(map(printable, names[:_MOST_NAMED]))
    more = len(names) - _MOST_NAMED
    return f"{len(names)} points: {reasons} ({shown}{f' and {more} more' if more > 0 else ''})"


def _worst_lines(summary: dict[str, Any]) -> list[str]:
    worst = summary["worst_distances"]
    if not worst:
        return []
    rows = [
        (
            f"{printable(edge['i'])} - {printable(edge['j'])}",
            f"measured {edge['distance']:.4g}",
            f"on the map {edge['distance'] + edge['residual']:.4g}",
        )
        for edge in worst
    ]
    width = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = (f"  {a:<{width[0]}}  {b:<{width[1]}}  {c}" for a, b, c in rows)
    return ["worst distances", *lines]
