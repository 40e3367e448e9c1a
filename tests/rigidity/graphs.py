"""Small random graphs for the tests of rigidity."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st


@st.composite
def graphs(draw, most=9):
    """Edges (2, m), in random order and direction, and the number of points."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    every = np.array(list(combinations(range(n), 2)))
    kept = every[rng.permutation(len(every))[: draw(st.integers(0, min(len(every), 3 * n)))]]
    turned = rng.random(len(kept)) < 0.5
    kept[turned] = kept[turned][:, ::-1]
    return kept.T.reshape(2, -1), n


def clique(points):
    """All edges between the points."""
    return list(combinations(points, 2))


def edges(*parts):
    """Edges (2, m) of lists of pairs, each pair once."""
    return np.array(sorted({tuple(sorted(e)) for part in parts for e in part})).T.reshape(2, -1)
