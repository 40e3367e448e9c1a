import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes

from gnnsync.angles import circular_distance, reduce_angle
from gnnsync.data import procrustes as procrustes_module
from gnnsync.data.patches import (
    Patches,
    add_noise,
    align_arithmetic,
    align_circular,
    nearest_neighbour_patches,
)
from gnnsync.data.procrustes import measure_offsets, overlapping_pairs, procrustes
from gnnsync.errors import GraphError, ParameterError


def draw_cloud(seed, n=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) * [2.0, 1.0], rng


def draw_patches(seed, n=60, size=12, eta=0.1):
    points, rng = draw_cloud(seed, n)
    noisy = add_noise(nearest_neighbour_patches(points, size), points, eta, rng)
    return noisy.rotated(rng.uniform(0, 2 * np.pi, n))


def test_a_patch_of_50_has_50_distinct_points_its_centre_first():
    points, _ = draw_cloud(0, 80)
    patches = nearest_neighbour_patches(points)
    assert patches.member.shape == (80, 50)
    assert np.array_equal(patches.member[:, 0], np.arange(80))
    assert all(len(set(row)) == 50 for row in patches.member.tolist())
    distance = np.abs(patches.position - patches.position[:, :1])
    assert (np.diff(distance, axis=1) >= 0).all()
    assert patches.position[3, 7].real == points[patches.member[3, 7], 0]


def test_coinciding_points_keep_the_centre_in_its_patch():
    points = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    patches = nearest_neighbour_patches(points, 4)
    assert np.array_equal(patches.member[:, 0], np.arange(20))
    assert all(len(set(row)) == 4 for row in patches.member.tolist())


def test_patches_larger_than_the_cloud_are_refused():
    with pytest.raises(ParameterError, match="at most the number of points, 5"):
        nearest_neighbour_patches(np.zeros((5, 2)), 6)


def test_noise_has_the_scale_of_each_coordinate_and_differs_between_patches():
    points, rng = draw_cloud(1, 400)
    exact = nearest_neighbour_patches(points, 50)
    noise = add_noise(exact, points, 0.2, rng).position - exact.position
    assert noise.real.std() == pytest.approx(0.2 * points[:, 0].std(), rel=0.03)
    assert noise.imag.std() == pytest.approx(0.2 * points[:, 1].std(), rel=0.03)
    first = noise[exact.member == 0]
    assert len(np.unique(first)) == len(first) > 10


@pytest.mark.parametrize("chunk", [1, 64, 1 << 20])
def test_procrustes_agrees_with_the_svd_pair_by_pair(monkeypatch, chunk):
    monkeypatch.setattr(procrustes_module, "_POSITIONS_PER_CHUNK", chunk)
    patches = draw_patches(2)
    pairs = overlapping_pairs(patches, 4)
    rotation, overlap, _ = procrustes(patches, pairs)
    for (i, j), angle, count in zip(pairs.T, rotation, overlap, strict=True):
        common, at_i, at_j = np.intersect1d(
            patches.member[i], patches.member[j], return_indices=True
        )
        assert len(common) == count >= 4
        here, there = (
            np.stack([z.real, z.imag], axis=1)
            for z in (patches.position[i][at_i], patches.position[j][at_j])
        )
        here, there = here - here.mean(axis=0), there - there.mean(axis=0)
        matrix, _ = orthogonal_procrustes(there, here)
        if np.linalg.det(matrix) > 0:
            svd_angle = np.arctan2(matrix[0, 1], matrix[0, 0])
            assert circular_distance(angle, svd_angle) < 1e-9
        # Where the SVD would reflect, no rotation does better than ours.
        z, w = here @ [1, 1j], there @ [1, 1j]
        squared = [
            (np.abs(z - np.exp(1j * (angle + turn)) * w) ** 2).sum() for turn in (0, 1e-3, -1e-3)
        ]
        assert min(squared) == squared[0]


def test_every_sufficient_overlap_gives_an_edge():
    patches = draw_patches(3)
    sets = [set(row) for row in patches.member.tolist()]
    expected = {
        (i, j)
        for i in range(len(sets))
        for j in range(i + 1, len(sets))
        if len(sets[i] & sets[j]) >= 6
    }
    graph = measure_offsets(patches, 6)
    assert set(map(tuple, graph.edge_index.T.tolist())) == expected
    assert graph.weight is None


def test_offsets_without_noise_are_differences_of_the_angles():
    points, rng = draw_cloud(4)
    angles = rng.uniform(0, 2 * np.pi, 60)
    graph = measure_offsets(nearest_neighbour_patches(points, 12).rotated(angles))
    assert np.abs(graph.residual(angles)).max() < 1e-12


@given(seed=st.integers(0, 10_000), turn=st.floats(0, 6.28))
def test_rotating_the_cloud_changes_nothing(seed, turn):
    patches = draw_patches(seed, n=30, size=8)
    turned = patches.rotated(np.full(30, turn))
    before, after = measure_offsets(patches, 4), measure_offsets(turned, 4)
    assert np.array_equal(before.edge_index, after.edge_index)
    assert circular_distance(before.offset, after.offset).max(initial=0) < 1e-6


@given(seed=st.integers(0, 10_000))
def test_shuffling_the_points_permutes_the_result(seed):
    points, rng = draw_cloud(seed, 30)
    patches = nearest_neighbour_patches(points, 8)
    order = rng.permutation(30)
    shuffled = nearest_neighbour_patches(points[order], 8)
    assert np.array_equal(order[shuffled.member], patches.member[order])
    angles = rng.uniform(0, 2 * np.pi, 30)
    stitched = patches.rotated(angles).stitch(angles)
    assert shuffled.rotated(angles[order]).stitch(angles[order]) == pytest.approx(stitched[order])


def test_a_mirrored_patch_is_never_taken_for_a_rotated_one():
    """Against its mirror image an asymmetric patch fits badly; the answer is still a rotation."""
    points, _ = draw_cloud(5, 12)
    z = points @ [1, 1j]
    member = np.tile(np.arange(12), (2, 1))
    patches = Patches(member, np.stack([z, z.conj()]), 12)
    angle, _, modulus = procrustes(patches, np.array([[0], [1]]))
    centred = z - z.mean()
    fit = np.abs(centred - np.exp(1j * angle[0]) * centred.conj())
    assert (fit**2).sum() == pytest.approx(2 * (np.abs(centred) ** 2).sum() - 2 * modulus[0])
    assert (fit**2).sum() > 0.1 * (np.abs(centred) ** 2).sum()


def test_weights_follow_overlap_and_spread():
    patches = draw_patches(6)
    pairs = overlapping_pairs(patches, 6)
    _, overlap, spread = procrustes(patches, pairs)
    by_overlap = measure_offsets(patches, 6, "overlap").weight
    by_precision = measure_offsets(patches, 6, "precision").weight
    assert by_overlap == pytest.approx(overlap / overlap.mean())
    assert by_precision == pytest.approx(spread / spread.mean())
    with pytest.raises(ParameterError, match="none, overlap, precision"):
        measure_offsets(patches, 6, "trust")


def test_precision_predicts_the_variance_of_an_offset():
    """Noise σ in every coordinate of both patches gives variance 2σ²/spread."""
    rng = np.random.default_rng(8)
    z = rng.normal(size=10) * 3 + 1j * rng.normal(size=10)
    copies, sigma = 4000, 0.05
    noise = sigma * (rng.normal(size=(copies, 10)) + 1j * rng.normal(size=(copies, 10)))
    patches = Patches(np.tile(np.arange(10), (copies, 1)), z + noise, 10)
    pairs = np.arange(copies).reshape(2, -1)
    angle, _, modulus = procrustes(patches, pairs)
    spread = (np.abs(z - z.mean()) ** 2).sum()
    assert modulus.mean() == pytest.approx(spread, rel=0.01)
    assert np.angle(np.exp(1j * angle)).var() == pytest.approx(2 * sigma**2 / spread, rel=0.08)


def test_stitching_averages_where_patches_see_a_point():
    patches = Patches(np.array([[0, 1], [1, 2]]), np.array([[1, 2 + 2j], [4, 1j]]), 3)
    assert patches.stitch(np.zeros(2)) == pytest.approx(np.array([[1, 0], [3, 1], [0, 1]]))
    with pytest.raises(GraphError, match="point 3 is in no patch"):
        Patches(patches.member, patches.position, 4).stitch(np.zeros(2))


def test_the_two_shifts_differ_where_differences_straddle_zero():
    truth = np.zeros(4)
    estimate = reduce_angle(np.array([-0.1, 0.1, -0.2, 0.2]))
    assert circular_distance(align_circular(estimate, truth), estimate).max() < 1e-12
    assert circular_distance(align_arithmetic(estimate, truth), estimate) == pytest.approx(np.pi)
    one_side = np.array([1.0, 1.1, 0.9, 1.0])
    assert align_arithmetic(one_side, truth) == pytest.approx(reduce_angle(one_side - 1))
    assert align_circular(one_side, truth) == pytest.approx(reduce_angle(one_side - 1))
