"""Riemannian trust region over matrices with unit rows."""

import numpy as np

from gnnsync.linalg.trust_region import maximise_unit_rows
from gnnsync.methods.gpm import dual_matrix
from tests.methods.networks import noisy


def test_trust_region_is_stationary_to_the_tolerance(rng):
    matrix = noisy(eta=0.7).hermitian
    rows = rng.standard_normal((matrix.shape[0], 6)).view(complex)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = maximise_unit_rows(matrix, rows, tol=1e-9, max_iterations=200)
    assert found.converged
    gradient = dual_matrix(matrix, found.rows) @ found.rows
    assert np.linalg.norm(gradient, axis=1).max() <= 2e-9
    np.testing.assert_allclose(np.linalg.norm(found.rows, axis=1), 1.0)
