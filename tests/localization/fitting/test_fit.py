import numpy as np

from gnnsync.localization.fitting.fit import fit_points, lengths
from gnnsync.positions import position_rmse
from tests.distances import disc_network

NONE = np.zeros(60, bool)


def test_exact_distances_are_met():
    network = disc_network(degree=16.0)
    start = network.points + 0.0003 * np.random.default_rng(1).standard_normal((60, 2))
    fit = fit_points(network, start, NONE, 100, 1e-9)
    assert fit.converged
    np.testing.assert_allclose(lengths(fit.points, network), network.distance, atol=1e-10)


def test_points_that_are_nearly_right_are_not_rejected():
    """Most of the start is exact: by its deviation alone, all other distances would be wrong."""
    network = disc_network(degree=16.0)
    start = network.points.copy()
    start[:12] += 1e-5 * np.random.default_rng(1).standard_normal((12, 2))
    fit = fit_points(network, start, NONE, 100, 1e-9)
    assert fit.confidence.min() > 0.99
    np.testing.assert_allclose(lengths(fit.points, network), network.distance, atol=1e-12)


def test_gross_errors_are_found_and_left_out():
    network = disc_network(eta=0.02, outliers=0.1)
    fit = fit_points(network, network.points, NONE, 100, 1e-9)
    assert ((fit.confidence < 0.5) == network.outlier).mean() > 0.98
    clean = network.keep_edges(~network.outlier)
    best = fit_points(clean, network.points, NONE, 100, 1e-9)
    assert position_rmse(fit.points, network) < 1.3 * position_rmse(best.points, network)


def test_points_without_start_take_no_part():
    network = disc_network()
    start = network.points.copy()
    start[7] = np.nan
    fit = fit_points(network, start, NONE, 20, 1e-9)
    assert np.isnan(fit.points[7]).all()
    assert (fit.used == (network.pairs != 7).all(axis=0)).all()
    assert (fit.confidence[~fit.used] == 0.0).all()
