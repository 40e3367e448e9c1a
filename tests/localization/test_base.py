import numpy as np

from gnnsync.localization.base import LocalPatches


def test_patches_are_ragged():
    patches = LocalPatches(np.array([0, 3, 7]), np.array([4, 1, 0, 0, 1, 2, 3]))
    assert len(patches) == 2
    assert patches.members(0).tolist() == [4, 1, 0]
    assert patches.members(1).tolist() == [0, 1, 2, 3]
