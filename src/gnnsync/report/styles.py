"""Colours, markers and dashes: a variant looks the same in every figure and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Outline

from gnnsync.report.naming import in_paper_order
from gnnsync.results.names import is_reference

# Medium tones that are distinct on white and on black; red, the first, is for GNNSync.
_COLOURS = (
    "#d1434f",
    "#3b78b8",
    "#2f9e63",
    "#c98a1b",
    "#8661b3",
    "#2a9aa6",
    "#b8577f",
    "#7a8b3c",
    "#8a6a4a",
    "#6f7a86",
    "#5566cc",
    "#d0703a",
)
_GREYS = ("#808080", "#a3a3a3", "#5e5e5e")
_MARKERS = "osD^vP<>X*ph"
_COMMANDS = {
    Outline.MOVETO: "M",
    Outline.LINETO: "L",
    Outline.CURVE3: "Q",
    Outline.CURVE4: "C",
    Outline.CLOSEPOLY: "Z",
}
# Methods that train a network are dashed, as in the paper.
_LEARNED = ("gnnsync",)


@dataclass(frozen=True)
class Style:
    """How one variant is drawn."""

    colour: str
    marker: str
    dashed: bool


def styles(labels: Sequence[str]) -> dict[str, Style]:
    """A style for each variant, by its place in the paper's order; references are grey."""
    order = in_paper_order(labels)
    variants = [label for label in order if not is_reference(label)]
    references = [label for label in order if is_reference(label)]
    looks = {
        label: Style(
            _COLOURS[i % len(_COLOURS)],
            # Shifted by one in each round, so that a repeated colour has another marker.
            _MARKERS[(i + i // len(_COLOURS)) % len(_MARKERS)],
            label.startswith(_LEARNED),
        )
        for i, label in enumerate(variants)
    }
    for i, label in enumerate(references):
        looks[label] = Style(_GREYS[i % len(_GREYS)], _MARKERS[i % len(_MARKERS)], True)
    return {label: looks[label] for label in order}


def marker_path(marker: str) -> str:
    """The outline of a Matplotlib marker as an SVG path, about 1 wide around 0; y points down."""
    style = MarkerStyle(marker)
    outline = style.get_path().transformed(style.get_transform())
    parts = []
    for vertices, code in outline.iter_segments(simplify=False):
        command = _COMMANDS[code]
        numbers = vertices.reshape(-1, 2) * (1, -1) if command != "Z" else ()
        parts.append(command + " ".join(f"{x:.3f} {y:.3f}" for x, y in numbers))
    return "".join(parts)
