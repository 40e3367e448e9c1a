import numpy as np
import pytest

from gnnsync.errors import ParameterError
from gnnsync.localization.fitting.refinement import RobustRefinement
from gnnsync.positions import position_rmse
from tests.distances import disc_network


def test_refined_positions_have_ellipses_and_confidence():
    network = disc_network(degree=14.0, eta=0.1, outliers=0.05)
    found = RobustRefinement()(network, network.points)
    assert found.converged
    assert found.localizable.mean() > 0.9
    assert np.isfinite(found.covariance[found.localizable]).all()
    assert ((found.edge_confidence < 0.5) == network.outlier).mean() > 0.97
    assert abs(found.diagnostics["sigma"] * np.sqrt(3.0) / 0.1 - 1.0) < 0.2
    assert found.diagnostics["noise_power"] == 1.0


def test_anchors_are_held():
    network = disc_network(eta=0.1)
    anchors = np.array([0, 10, 20, 30])
    network = network.replace(anchors=anchors, anchor_positions=network.points[anchors])
    found = RobustRefinement()(network, network.points[:, ::-1])
    assert (found.points[anchors] == network.points[anchors]).all()
    assert position_rmse(found.points, network) < 0.05


def test_points_without_start_have_no_position():
    network = disc_network()
    start = network.points.copy()
    start[5] = np.nan
    found = RobustRefinement()(network, start)
    assert not found.located[5]
    assert not found.localizable[5]


def test_iterations_end_the_fit():
    network = disc_network(eta=0.2)
    found = RobustRefinement(iterations=1)(network, network.points)
    assert not found.converged
    assert found.stop_reason == "iteration limit"
    with pytest.raises(ParameterError, match="tolerance"):
        RobustRefinement(tolerance=0.0)
