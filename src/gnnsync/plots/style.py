"""Colours and marks that the figures of a solution share."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

# Told apart by colour-blind readers too, on paper and on screens (Okabe and Ito 2008).
GROUPS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c6d1f", "#555555")
# Measurements and nodes of which nothing is known, thin lines, and what is wrong.
UNKNOWN, FAINT, WRONG = "#9a9a9a", "#c9c9c9", "#c0392b"
# Probabilities from 0 to 1; unknown ones are drawn in `UNKNOWN`, which is not in it.
PROBABILITY = "RdYlBu"
# More points or lines than this are drawn as pixels, also in vector formats.
MANY_MARKS = 2_000


def group_colour(group: int) -> str:
    """Colour of a group; beyond the eighth they take turns."""
    return GROUPS[group % len(GROUPS)]


def note(axes: Axes, text: str) -> None:
    """Text in the middle of axes that have nothing to draw."""
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color="#555555")
    axes.set_xticks([])
    axes.set_yticks([])


def small_legend(axes: Axes, **options: Any) -> None:
    """A legend without a frame, if there is anything to name."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**{"frameon": False, "fontsize": 8, **options})
