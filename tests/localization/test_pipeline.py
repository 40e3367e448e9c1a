from dataclasses import replace

import numpy as np

import gnnsync
from gnnsync.localization.pipeline import Localization
from gnnsync.localization.repair.folds import FoldRepair
from gnnsync.methods import METHODS
from gnnsync.positions import position_ane, position_rmse
from tests.distances import complete_network, disc_network

spectral = METHODS["spectral"]()
FAST = Localization(rotations=spectral)


def test_exact_distances_give_the_exact_map():
    network = disc_network(n=80, degree=14.0)
    found = FAST(network)
    assert position_ane(found.points, network, found.localizable) < 1e-6
    assert found.localizable.mean() > 0.9
    assert found.diagnostics["reflections_wrong"] == 0


def test_noise_and_gross_errors_are_as_from_the_truth():
    network = disc_network(n=60, degree=14.0, eta=0.1, outliers=0.1, seed=3)
    found = FAST(network)
    best = FAST.refinement(network, network.points)
    scored = best.localizable
    reached, possible = (position_rmse(p.points, network, scored) for p in (found, best))
    assert reached < 1.1 * possible
    assert found.rotations is not None


def test_patches_with_wrong_reflections_do_not_fold_the_map():
    network = disc_network(n=150, degree=12.0, eta=0.2, seed=2)
    measured = FAST.measure(network)
    assert measured.diagnostics["reflections_wrong"] > 0
    angles = spectral(measured.graph)
    best = FAST.refinement(network, network.points)
    alone, found = (
        replace(FAST, repair=FoldRepair(rounds=0, landmarks=landmarks))
        .assemble(network, measured, angles)
        .points
        for landmarks in (0, 500)
    )
    reached, possible = (
        position_rmse(points, network, best.localizable) for points in (found, best.points)
    )
    assert position_rmse(alone, network, best.localizable) > 5.0 * possible
    assert reached < 1.1 * possible


def test_components_are_placed_apart():
    one, two = disc_network(n=30, degree=12.0), disc_network(n=30, degree=12.0, seed=1)
    network = one.replace(
        num_points=60,
        pairs=np.concatenate([one.pairs, two.pairs + 30], axis=1),
        distance=np.concatenate([one.distance, two.distance]),
        points=np.concatenate([one.points, two.points + 5.0]),
        outlier=None,
    )
    found = FAST(network)
    assert position_rmse(found.points, network, found.localizable) < 1e-6
    assert found.localizable.sum() > 45


def test_a_flexible_network_is_solved_up_to_its_freedom():
    network = complete_network([[0, 0], [1, 0], [1, 1], [0, 1.2], [0.4, 0.6], [3, 3], [4, 4]])
    kept = (network.pairs < 5).all(axis=0)
    kept |= (network.pairs == np.array([[4], [5]])).all(axis=0)
    kept |= (network.pairs == np.array([[5], [6]])).all(axis=0)
    network = network.keep_edges(kept)
    found = FAST(network)
    assert found.localizable.tolist() == [True] * 5 + [False] * 2
    assert found.located.all()
    assert np.abs(network.residual(found.points)).max() < 1e-6


def test_networks_without_patches():
    triangle = gnnsync.locate([(0, 1, 3.0), (1, 2, 4.0), (0, 2, 5.0)])
    step = triangle.points[[0, 1, 0]] - triangle.points[[1, 2, 2]]
    np.testing.assert_allclose(np.linalg.norm(step, axis=1), [3.0, 4.0, 5.0], atol=1e-6)
    pair = gnnsync.locate([("a", "b", 2.0)])
    assert abs(np.linalg.norm(pair.points[0] - pair.points[1]) - 2.0) < 1e-6


def test_anchors_give_the_absolute_map():
    network = disc_network(n=60, degree=14.0)
    anchors = [0, 20, 40]
    network = network.replace(anchors=anchors, anchor_positions=network.points[anchors])
    found = FAST(network)
    good = found.localizable
    np.testing.assert_allclose(found.points[good], network.points[good], atol=1e-6)


def test_the_same_seed_gives_the_same_map():
    network = disc_network(n=40, eta=0.1)
    assert (FAST(network, seed=1).points == FAST(network, seed=1).points).all()
