"""Whether fits found in different ways agree."""

from __future__ import annotations

from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE

# Share of the nodes at the same angles from which two fits of several groups agree,
_SAME = 0.95
# and for one group, where fits that differ in a few nodes only are common.
_SAME_ONE_GROUP = 0.997


def fits_agree(one: MixtureFit, two: MixtureFit) -> bool:
    """Whether nearly all nodes have the same angles, up to rotation and order of the groups."""
    apart = aligned_error(one.angles, two.angles).max(axis=1)
    enough = _SAME if one.share.size > 1 else _SAME_ONE_GROUP
    return bool((apart < NODE_TOLERANCE).mean() > enough)


def best_two_agree(fits: list[MixtureFit]) -> bool:
    """Whether the two fits of greatest evidence agree."""
    if len(fits) < 2:
        return False
    one, two = sorted(fits, key=lambda fit: -fit.evidence)[:2]
    return fits_agree(one, two)
