"""Which patches are mirror images: synchronization over the group of two elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.errors import check_integer, check_real
from gnnsync.linalg.eigen import top_eigenvectors
from gnnsync.localization.base import PatchAlignments
from gnnsync.topology import component_labels
from gnnsync.typing import IntArray

# Evidence of a pair beyond this counts as so much: pairs with common points are not independent.
_MOST_EVIDENCE = 10.0
# The signs of the eigenvector need no more digits; its start is drawn from this seed.
_ACCURACY, _SEED = 1e-6, 0


@dataclass(frozen=True)
class SpectralReflections:
    """Signs of the leading eigenvector of the pairs' reflections, then single flips.

    Cucuringu, Lipman and Singer (ACM Trans. Sensor Netw. 8, 2012), with the evidence of each pair
    as its weight. Afterwards each patch takes the sign that most evidence of its pairs supports,
    until none changes.

    Args:
        sweeps: most sweeps of single flips.
    """

    sweeps: int = 100

    def __post_init__(self) -> None:
        check_integer("sweeps", self.sweeps, 0)

    def __call__(self, alignments: PatchAlignments, num_patches: int) -> IntArray:
        """Signs (p,)."""
        matrix = _matrix(alignments, num_patches)
        signs = _leading_signs(matrix, alignments, num_patches)
        return _flipped(matrix, signs, self.sweeps)


@dataclass(frozen=True)
class BeliefReflections:
    """Belief propagation from the signs of `SpectralReflections`.

    The message of a patch to another is the log-odds h of its sign by all its other pairs,
    passed on as 2 atanh(tanh(J) tanh(h / 2)) with J half the evidence of the pair.

    Args:
        iterations: most rounds of messages.
        damping: share of the old message that is kept.
        trust: factor of the evidence; less than 1, for pairs with common points are not
            independent.
    """

    iterations: int = 100
    damping: float = 0.5
    trust: float = 0.5

    def __post_init__(self) -> None:
        check_integer("iterations", self.iterations, 0)
        check_real("damping", self.damping, 0, 1, open_high=True)
        check_real("trust", self.trust, 0, open_low=True)

    def __call__(self, alignments: PatchAlignments, num_patches: int) -> IntArray:
        """Signs (p,)."""
        start = SpectralReflections()(alignments, num_patches)
        if not alignments.pairs.shape[1]:
            return start
        a, b = alignments.pairs
        source, target = np.concatenate([a, b]), np.concatenate([b, a])
        e = len(a)
        back = np.concatenate([np.arange(e, 2 * e), np.arange(e)])
        half = 0.5 * self.trust * np.minimum(alignments.contrast, _MOST_EVIDENCE)
        coupling = np.tanh(np.tile(alignments.reflection * half, 2))
        # Signs relative to the start: the first messages are those of the start.
        message = 2.0 * np.arctanh(np.abs(coupling) * (1.0 - 1e-12)) * start[target]
        for _ in range(self.iterations):
            total = np.bincount(target, message, num_patches)
            cavity = total[source] - message[back]
            new = 2.0 * np.arctanh(coupling * np.tanh(0.5 * cavity) * (1.0 - 1e-12))
            change = np.abs(new - message).max()
            message = self.damping * message + (1.0 - self.damping) * new
            if change < 1e-6:
                break
        total = np.bincount(target, message, num_patches)
        signs = np.where(total == 0.0, start, np.sign(total)).astype(np.int64)
        return _flipped(_matrix(alignments, num_patches), signs, SpectralReflections.sweeps)


def _matrix(alignments: PatchAlignments, p: int) -> sp.csr_array:
    """Signed evidence (p, p) of the pairs, symmetric."""
    a, b = alignments.pairs
    value = alignments.reflection * np.minimum(alignments.contrast, _MOST_EVIDENCE)
    ends = np.concatenate([a, b]), np.concatenate([b, a])
    return sp.csr_array((np.concatenate([value, value]), ends), shape=(p, p))


def _leading_signs(matrix: sp.csr_array, alignments: PatchAlignments, p: int) -> IntArray:
    """Signs (p,) of the leading eigenvector of each component."""
    signs = np.ones(p, dtype=np.int64)
    component = component_labels(alignments.pairs, p)
    for c in np.flatnonzero(np.bincount(component) > 2).tolist():
        own = np.flatnonzero(component == c)
        part = sp.csr_array(matrix[own][:, own])
        degree = np.maximum(np.abs(part).sum(axis=1), 1e-12)
        root = sp.diags_array(1.0 / np.sqrt(degree))
        normalised = sp.csr_array(root @ part @ root)
        found = top_eigenvectors(normalised, 1, np.random.default_rng(_SEED), tol=_ACCURACY)
        signs[own] = np.where(found.vectors[:, 0].real >= 0.0, 1, -1)
    small = np.flatnonzero((np.bincount(component) == 2)[component])
    for a, b, reflection in zip(*alignments.pairs, alignments.reflection, strict=True):
        if a in small:
            signs[b] = reflection * signs[a]
    return signs


def _flipped(matrix: sp.csr_array, signs: IntArray, sweeps: int) -> IntArray:
    """Signs after flips of single patches that agree with more evidence."""
    signs = signs.copy()
    for _ in range(sweeps):
        field = matrix @ signs * signs
        wrong = field < 0.0
        if not wrong.any():
            break
        # Patches that are not paired with a worse one, so that all flips together help.
        worst = np.where(wrong, -field, 0.0) + 1e-9 * wrong * (np.arange(len(signs)) + 1.0) / len(
            signs
        )
        pattern = matrix.copy()
        pattern.data = np.ones_like(pattern.data)
        rivals = pattern.multiply(worst[None, :]).max(axis=1).toarray().ravel()
        signs[wrong & (worst > rivals)] *= -1
    return signs
