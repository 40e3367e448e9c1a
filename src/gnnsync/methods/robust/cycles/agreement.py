"""Agreement of angles on the circle, and how many agreeing angles exclude chance."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.topology import distinct
from gnnsync.typing import FloatArray, IntArray

# Expected number of chance agreements per place below which an agreement is a certificate.
_CHANCE = 1e-3
# Part of the circle that candidates may cover before the estimate of chance loses its meaning.
_MOST_DENSITY = 0.5


def largest_agreements(
    place: IntArray, angle: FloatArray, tolerance: float, *origins: IntArray
) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """The largest set of angles at each place that agree within `tolerance` on the circle.

    Args:
        place: (P,) number of the place each angle is for.
        angle: (P,) predictions.
        tolerance: greatest gap between neighbours of one set, in radians.
        origins: any number of (P,) arrays. The size of a set is then its number of distinct
            origins, the least over the arrays.

    Returns:
        Places, mean angle of the largest set, its size, and the number of all angles there.
    """
    if not len(place):
        return place, np.empty(0), place, place
    angle = np.mod(angle, TWO_PI)
    order = np.lexsort((angle, place))
    place, angle = place[order], angle[order]
    new_place = np.concatenate([[True], place[1:] != place[:-1]])
    starts = new_place | np.concatenate([[True], np.diff(angle) > tolerance])
    run = np.cumsum(starts) - 1
    first = np.flatnonzero(new_place)
    last = np.concatenate([first[1:], [len(place)]]) - 1
    # The last run of a place continues as its first one where they meet at 2π.
    around = (run[first] != run[last]) & (angle[first] + TWO_PI - angle[last] <= tolerance)
    into = np.arange(run[-1] + 1)
    into[run[last[around]]] = run[first[around]]
    run = into[run]
    count = np.bincount(run, minlength=len(into))
    base = angle[starts]
    mean = base + np.bincount(run, wrap(angle - base[run]), len(into)) / np.maximum(count, 1)
    for origin in origins:
        span = int(origin.max()) + 1
        run_of_origin = distinct(run * span + origin[order]) // span
        count = np.minimum(count, np.bincount(run_of_origin, minlength=len(into)))
    at = place[starts]
    best = np.lexsort((mean, count, at))
    best = best[np.concatenate([at[best][1:] != at[best][:-1], [True]])]
    return at[best], mean[best], count[best], last - first + 1


def required_agreement(total: IntArray, tolerance: float) -> IntArray:
    """Number of agreeing angles, out of `total` (P,), that chance all but never reaches.

    Some r of T uniform angles lie within the tolerance in about T·(T·tolerance/2π)^(r-1) ways.
    """
    density = np.minimum(total * tolerance / TWO_PI, _MOST_DENSITY)
    return 1 + np.maximum(np.ceil(np.log(total / _CHANCE) / -np.log(density)), 1).astype(np.int64)
