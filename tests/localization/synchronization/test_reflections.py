import numpy as np
import pytest

from gnnsync.localization.base import PatchAlignments
from gnnsync.localization.synchronization.reflections import BeliefReflections, SpectralReflections


def measured(p=80, wrong=0.15, seed=0):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], p)
    pairs = np.stack(np.triu_indices(p, 1))
    pairs = pairs[:, rng.random(pairs.shape[1]) < 0.15]
    e = pairs.shape[1]
    bad = rng.random(e) < wrong
    reflection = signs[pairs[0]] * signs[pairs[1]] * np.where(bad, -1, 1)
    contrast = np.where(bad, 2.0, 4.0)
    return signs, PatchAlignments(
        pairs, reflection, np.zeros(e), np.ones(e), contrast, np.full(e, 5)
    )


@pytest.mark.parametrize("method", [SpectralReflections(), BeliefReflections()])
def test_signs_are_found_among_wrong_pairs(method):
    signs, alignments = measured()
    found = method(alignments, 80)
    assert abs(found @ signs) == 80


@pytest.mark.parametrize("method", [SpectralReflections(), BeliefReflections()])
def test_patches_without_pairs_have_a_sign(method):
    none = np.zeros(0)
    alignments = PatchAlignments(
        np.zeros((2, 0), np.int64), none.astype(int), none, none, none, none.astype(int)
    )
    assert method(alignments, 3).tolist() == [1, 1, 1]
    pair = PatchAlignments(np.array([[0], [2]]), np.array([-1]), *np.ones((3, 1)), np.array([5]))
    found = method(pair, 3)
    assert found[0] * found[2] == -1


def test_single_flips_improve_the_eigenvector():
    _, alignments = measured(wrong=0.3, seed=2)
    plain, flipped = (SpectralReflections(sweeps=s)(alignments, 80) for s in (0, 100))
    a, b = alignments.pairs

    def agreement(found):
        return (alignments.reflection * found[a] * found[b]) @ alignments.contrast

    assert agreement(flipped) >= agreement(plain)
