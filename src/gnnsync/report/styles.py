"""Colours, markers and dashes: the same variant looks the same in every figure and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gnnsync.report.aggregation import ordered

# Middle tones, told apart on white and on black; red is for the learned method, which comes first.
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
_MARKERS = "osD^vP<>X*ph"
# Methods that train a network are dashed, as in the paper.
_LEARNED = ("gnnsync",)


@dataclass(frozen=True)
class Style:
    """How one variant is drawn."""

    colour: str
    marker: str
    dashed: bool


def styles(labels: Sequence[str]) -> dict[str, Style]:
    """A style for each variant, by its place in the paper's order."""
    return {
        label: Style(
            _COLOURS[i % len(_COLOURS)],
            _MARKERS[(i + i // len(_COLOURS)) % len(_MARKERS)],
            label.startswith(_LEARNED),
        )
        for i, label in enumerate(ordered(labels))
    }
