from dataclasses import replace

import numpy as np
import pytest

from gnnsync.errors import ParameterError
from gnnsync.localization.fitting.fit import fit_points
from gnnsync.localization.repair.folds import (
    FoldRepair,
    best_of_each,
    is_folded,
    rejoined,
    relocated,
)
from gnnsync.localization.repair.scaling import landmark_map
from gnnsync.positions import position_rmse
from gnnsync.rigidity import localizable_points
from tests.distances import disc_network


def test_the_best_start_is_taken():
    network = disc_network(n=150, eta=0.05)
    bad = np.random.default_rng(1).random((150, 2))
    good = localizable_points(network.pairs, 150)
    repair = FoldRepair(rounds=0, landmarks=0)
    assert position_rmse(repair(network, [bad]), network, good) > 0.1
    for starts in ([bad, network.points], [network.points, bad]):
        assert position_rmse(repair(network, starts), network, good) < 0.03


def test_shortest_paths_are_a_further_start():
    network = disc_network(n=150, eta=0.05)
    bad = np.random.default_rng(1).random((150, 2))
    start = landmark_map(network, 100, seed=2)
    without, found, known = (
        FoldRepair(rounds=0, landmarks=landmarks)(network, starts, seed=2)
        for landmarks, starts in ((0, [bad]), (100, [bad]), (0, [start]))
    )
    assert (found == known).all()
    assert position_rmse(found, network) < 0.2 * position_rmse(without, network)


def test_a_folded_map_is_known_and_unfolded():
    network = disc_network(n=120, degree=14.0, eta=0.05, seed=6)
    noise = np.random.default_rng(1).standard_normal((120, 2))
    folded = network.points + 0.4 * noise
    none, good = np.zeros(120, bool), localizable_points(network.pairs, 120)
    for start, wrong in ((network.points, False), (folded, True)):
        assert is_folded(network, fit_points(network, start, none, 60, 1e-5)) == wrong
    repair = FoldRepair(landmarks=0)
    assert position_rmse(repair(network, [folded]), network, good) < 0.03


def test_the_other_start_is_tried_while_the_map_is_folded():
    network = disc_network(n=120, degree=14.0, eta=0.05, seed=6)
    noise = np.random.default_rng(4).standard_normal((120, 2))
    bad = network.points + 0.6 * noise
    repair = FoldRepair(1, [(0.0, 0)], landmarks=0, reflections=0)
    assert position_rmse(repair(network, [bad, network.points]), network) < 0.05


def test_a_start_that_is_better_than_shortest_paths_is_kept():
    network = disc_network(n=100, degree=14.0, eta=0.05)
    good = localizable_points(network.pairs, 100)
    with_paths, alone = (
        position_rmse(
            FoldRepair(rounds=0, landmarks=count)(network, [network.points]), network, good
        )
        for count in (3, 0)
    )
    assert abs(with_paths - alone) < 1e-3


@pytest.mark.parametrize("landmarks", [-1, 1, 2])
def test_landmarks_have_to_span_the_plane(landmarks):
    with pytest.raises(ParameterError, match="landmarks"):
        FoldRepair(landmarks=landmarks)


def test_points_on_the_wrong_side_are_placed_again():
    network = disc_network(n=100, degree=14.0)
    start = network.points.copy()
    start[[3, 30]] += 0.3
    none = np.zeros(100, bool)
    fit = fit_points(network, start, none, 60, 1e-6)
    moved = relocated(network, fit)
    if moved is None:  # the fit found its way
        moved = fit.points
    again = fit_points(network, moved, none, 60, 1e-6)
    assert position_rmse(again.points, network) < 1e-6


def test_a_right_map_has_no_points_to_place_again():
    network = disc_network()
    fit = fit_points(network, network.points, np.zeros(60, bool), 20, 1e-9)
    assert relocated(network, fit) is None


def test_a_group_of_points_on_the_wrong_side_is_put_right():
    network = disc_network(n=120, degree=14.0, eta=0.05)
    start = network.points.copy()
    own = np.flatnonzero(np.linalg.norm(start - [0.5, 0.5], axis=1) < 0.12)
    assert len(own) >= 4
    start[own] += [0.3, 0.0]
    good = localizable_points(network.pairs, 120)
    found, best = (
        fit_points(network, points, np.zeros(120, bool), 60, 1e-6).points
        for points in (FoldRepair(rounds=1, landmarks=0)(network, [start]), network.points)
    )
    assert position_rmse(found, network, good) < 1.1 * position_rmse(best, network, good)


def test_a_body_on_the_wrong_side_of_a_hinge_is_placed_again():
    network = disc_network(n=100, degree=14.0, seed=4)
    start = network.points.copy()
    over = start[:, 0] > 0.8
    start[over, 0] = 1.6 - start[over, 0]
    length = np.linalg.norm(start[network.pairs[0]] - start[network.pairs[1]], axis=1)
    wrong = np.abs(length - network.distance) > 1e-9
    fit = fit_points(network, network.points, np.zeros(100, bool), 20, 1e-9)
    folded = replace(fit, points=start, confidence=np.where(wrong, 0.0, 1.0), noise=None)
    again = fit_points(network, rejoined(network, folded), np.zeros(100, bool), 60, 1e-6)
    good = localizable_points(network.pairs, 100)
    assert position_rmse(again.points, network, good) < 1e-6


def test_components_are_taken_from_different_maps():
    one, two = disc_network(n=60, eta=0.05), disc_network(n=60, eta=0.05, seed=1)
    network = one.replace(
        num_points=120,
        pairs=np.concatenate([one.pairs, two.pairs + 60], axis=1),
        distance=np.concatenate([one.distance, two.distance]),
        points=np.concatenate([one.points, two.points + 5.0]),
        outlier=None,
    )
    fit = fit_points(network, network.points, np.zeros(120, bool), 20, 1e-6)
    bad = np.random.default_rng(0).random((60, 2))
    first, last = (
        replace(fit, points=np.concatenate(parts))
        for parts in ((bad, fit.points[60:]), (fit.points[:60], bad))
    )
    assert (best_of_each(network, first, last) == fit.points).all()
    assert best_of_each(network, fit, first) is None
    assert best_of_each(one, fit, first) is None
