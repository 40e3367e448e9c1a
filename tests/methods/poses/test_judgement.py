import numpy as np
import pytest
from scipy.stats import multivariate_t

from gnnsync.methods.poses.judgement import (
    FREEDOM,
    Prediction,
    log_density_anywhere,
    log_outlier_density,
    without_itself,
)


def test_density_is_the_multivariate_t():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 3, 3))
    covariance, residual = root @ root.transpose(0, 2, 1), rng.normal(size=(5, 3))
    prediction = Prediction(residual, covariance)
    for e in range(5):
        law = multivariate_t(shape=covariance[e], df=FREEDOM)
        assert prediction.log_density()[e] == pytest.approx(law.logpdf(residual[e]))
        assert prediction.log_density_at_zero()[e] == pytest.approx(law.logpdf(np.zeros(3)))


def test_a_measurement_is_predicted_as_if_it_had_not_been_there():
    """A prior N(0, Q) and one measurement z with information W: the rest predicts 0 ± Q."""
    rng = np.random.default_rng(1)
    root = rng.normal(size=(2, 4, 3, 3))
    prior, noise = root @ root.transpose(0, 1, 3, 2)
    information = np.linalg.inv(noise)
    measured = rng.normal(size=(4, 3))
    fitted = np.linalg.inv(np.linalg.inv(prior) + information)
    estimate = np.einsum("eab,ebc,ec->ea", fitted, information, measured)
    found = without_itself(estimate - measured, fitted, information, noise)
    assert found.residual == pytest.approx(-measured)
    assert found.covariance == pytest.approx(prior + noise)


def test_a_bridge_predicts_nothing():
    noise = np.eye(3)[None]
    found = without_itself(np.zeros((1, 3)), noise, noise, noise)
    assert np.linalg.eigvalsh(found.covariance[0]).min() > 1e5


def test_outliers_are_anywhere_on_the_map():
    noise = 1e-4 * np.eye(3)[None]
    square = np.array([[0.0, 0, 0], [10, 20, 1]])
    assert log_outlier_density(square, noise) == pytest.approx(-np.log(2 * np.pi * 200))
    corridor = np.array([[0.0, 0, 0], [10, 0, 1]])
    assert log_outlier_density(corridor, noise) == pytest.approx(-np.log(2 * np.pi * 10))
    assert np.isfinite(log_outlier_density(np.zeros((3, 3)), noise))


def test_only_a_bridge_is_unchecked():
    noise = np.tile(np.eye(3), (2, 1, 1))
    fitted = noise * np.array([1.0, 0.5])[:, None, None]
    found = without_itself(np.zeros((2, 3)), fitted, noise, noise)
    assert found.unchecked.tolist() == [True, False]


def test_a_residual_of_0_never_speaks_for_an_outlier():
    covariance = np.array([1e-4, 1.0, 1e4])[:, None, None] * np.eye(3)
    prediction = Prediction(np.zeros((3, 3)), covariance)
    uniform = -np.log(2 * np.pi * 4)
    anywhere = log_density_anywhere(prediction, uniform)
    assert (anywhere < prediction.log_density()).all()
    assert anywhere[0] == uniform
