"""Selected entries of the inverse against the dense inverse."""

from __future__ import annotations

import numpy as np
import qdldl
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnsync.linalg.selected_inverse import InverseEntries, selected_inverse


@settings(deadline=None, max_examples=50)
@given(n=st.integers(1, 25), density=st.floats(0.02, 0.6), seed=st.integers(0, 1000))
def test_entries_on_the_pattern_are_those_of_the_inverse(n: int, density: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.tril(rng.normal(size=(n, n)) * (rng.random((n, n)) < density), -1)
    matrix = matrix + matrix.T
    matrix += np.diag(np.abs(matrix).sum(axis=1) + 1.0)
    cholesky = np.linalg.cholesky(matrix)
    diagonal = np.diag(cholesky) ** 2
    lower = cholesky / np.diag(cholesky)
    # The pattern of elimination: row i and column j are filled once an earlier column has both.
    filled = np.tril(matrix != 0.0, -1)
    for j in range(n):
        rows = np.flatnonzero(filled[:, j])
        filled[np.ix_(rows, rows)] = True
    filled = np.tril(filled, -1)
    rows, columns = np.nonzero(filled)
    pattern = sp.csc_array((lower[rows, columns], (rows, columns)), shape=(n, n))
    pattern.sort_indices()
    values, trace = selected_inverse(pattern, diagonal)
    inverse = np.linalg.inv(matrix)
    np.testing.assert_allclose(trace, np.diag(inverse), rtol=1e-9)
    where = np.repeat(np.arange(n), np.diff(pattern.indptr))
    np.testing.assert_allclose(values, inverse[pattern.indices, where], atol=1e-10)


def test_entries_in_the_order_of_the_matrix():
    rng = np.random.default_rng(0)
    matrix = np.triu(rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.3), 1)
    matrix = matrix + matrix.T
    matrix += np.diag(np.abs(matrix).sum(axis=1) + 1.0)
    entries = InverseEntries(qdldl.Solver(sp.csc_matrix(np.triu(matrix)), upper=True))
    inverse = np.linalg.inv(matrix)
    row, column = np.nonzero(matrix)
    np.testing.assert_allclose(entries.at(row, column), inverse[row, column], rtol=1e-9)
    absent = entries.at(np.array([[3], [-1]]), np.array([3, -1]))
    np.testing.assert_allclose(absent, [[inverse[3, 3], 0.0], [0.0, 0.0]])
