"""Extreme eigenvectors of a sparse Hermitian matrix."""

from __future__ import annotations

import logging
import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from gnnsync.errors import GnnsyncError
from gnnsync.typing import ComplexArray, FloatArray
from gnnsync.work import advance, check_time, loop

log = logging.getLogger(__name__)

# Below this size LAPACK on the dense matrix is faster than ARPACK, and ARPACK needs k < n - 1.
_DENSE_NODES = 64
# Lanczos basis for a single eigenvector: smaller than ARPACK's default of 20, which measured
# as fewer products and less orthogonalisation.
_SINGLE_VECTOR_BASIS = 14
# Restarts of the Lanczos basis after which the spectral gap counts as tiny.
_RESTARTS = 150
# Largest core (see `_fills_little`) that is factorised: dense fill of 2500² numbers, 100 MB.
_FACTOR_CORE = 2500
# Sparse graphs are factorised too, up to these edges per node and nodes: pose graphs fill in hardly
# at all, and a random graph of 8,000 nodes, the worst case, takes 2 s.
_SPARSE_DEGREE, _SPARSE_NODES = 2.2, 15_000
# Shift of the inverse iteration above the spectrum, relative to the bound: the factorised matrix
# must be definite in double precision.
_SHIFT_MARGIN = 1e-8
# Basis of the second Lanczos attempt: at least this many vectors, and this many per eigenvector.
_WIDE_BASIS, _WIDE_BASIS_PER_VECTOR = 120, 10
# Products that a random graph with some outliers takes, for the progress that is shown.
_USUAL_PRODUCTS = 40
# Relative accuracy of eigenpair residuals: near the rounding of double precision.
_ACCURACY = 1e-12


class Eigenpairs(NamedTuple):
    """Eigenvalues, descending, their eigenvectors as columns, and the matrix products it took."""

    values: FloatArray
    vectors: ComplexArray
    products: int


def top_eigenvectors(
    matrix: sp.csr_array,
    count: int,
    rng: np.random.Generator,
    *,
    bound: float | None = None,
    tol: float = _ACCURACY,
) -> Eigenpairs:
    """The `count` algebraically largest eigenvalues, descending, and their eigenvectors (n, count).

    Lanczos iteration (ARPACK) first. Where the gap is too small for it (long paths and cycles),
    inverse iteration from just above the spectrum if the matrix has a sparse factorisation, else
    Lanczos again with a larger basis. The start is random: from the angles along a spanning tree
    ARPACK needs as many products as soon as there is noise (ER, 20,000 nodes, η = .3: 29 instead
    of 36; η = .6: 57 instead of 64; RGG, 5,000 nodes: the same 183 and 113).

    Args:
        matrix: (n, n) Hermitian, complex or real.
        count: how many; may exceed n, the missing vectors repeat the last one.
        rng: for the starting vector.
        bound: an upper bound of the spectrum; derived from the row sums if not given.
        tol: relative accuracy of the residuals.

    Raises:
        TimeUp: the time limit (`gnnsync.work`) is reached.
    """
    n = matrix.shape[0]
    if n <= max(_DENSE_NODES, count + 2):
        values, vectors = np.linalg.eigh(matrix.toarray())
        order = np.minimum(np.arange(count), n - 1)
        return Eigenpairs(values[::-1][order], vectors[:, ::-1][:, order], 0)
    start = rng.standard_normal(n).astype(matrix.dtype)
    if np.iscomplexobj(matrix):
        start = start + 1j * rng.standard_normal(n)
    counted = _Counted(matrix)
    basis = _SINGLE_VECTOR_BASIS if count == 1 else None
    with loop("eigenvectors"):
        try:
            values, vectors = eigsh(
                counted, k=count, which="LA", v0=start, ncv=basis, maxiter=_RESTARTS, tol=tol
            )
        except ArpackNoConvergence:
            values, vectors = _small_gap(counted, count, start, bound)
    order = np.argsort(values)[::-1]
    return Eigenpairs(values[order], vectors[:, order], counted.products)


def smallest_eigenpair(
    matrix: sp.csr_array, rng: np.random.Generator, *, tol: float = 1e-10
) -> tuple[float, ComplexArray]:
    """The least eigenvalue of a Hermitian matrix and its eigenvector (n,).

    ARPACK measures convergence relative to the eigenvalue, which for the certificates is 0;
    therefore the largest eigenvalue of c·I - matrix is sought, c an upper bound of the spectrum,
    and the accuracy is relative to c.
    """
    upper = float(_row_sums(matrix).max())
    shifted = (upper * sp.eye_array(matrix.shape[0], format="csr") - matrix).tocsr()
    found = top_eigenvectors(shifted, 1, rng, tol=tol)
    return upper - float(found.values[0]), found.vectors[:, 0]


def eigen_residual(matrix: sp.csr_array, values: FloatArray, vectors: ComplexArray) -> float:
    """Largest ‖M v - λ v‖ over the pairs, relative to the largest |λ|."""
    gap = np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max()
    return float(gap / max(np.abs(values).max(), np.finfo(float).tiny))


class _Counted(LinearOperator):
    """A sparse matrix that counts its products with vectors.

    They end with `TimeUp` at the time limit: ARPACK has nothing to show before its end.
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        super().__init__(matrix.dtype, matrix.shape)
        self.matrix, self.products = matrix, 0

    def _matvec(self, x: NDArray) -> NDArray:
        check_time()
        self.products += 1
        advance(1.0 - math.exp(-self.products / _USUAL_PRODUCTS))
        return self.matrix @ x


def _small_gap(
    counted: _Counted, count: int, start: NDArray, bound: float | None
) -> tuple[FloatArray, ComplexArray]:
    """The eigenpairs where Lanczos did not converge: inverse iteration, else a larger basis."""
    matrix = counted.matrix
    n = matrix.shape[0]
    if _fills_little(matrix):
        if bound is None:
            bound = _spectral_bound(matrix)
        # Just outside the spectrum, so that the factorised matrix is definite.
        shift = bound * (1 + _SHIFT_MARGIN) if bound > 0 else _SHIFT_MARGIN
        plain = matrix.tocsc(copy=True)
        plain.sum_duplicates()
        log.debug("small spectral gap: inverse iteration at %g", shift)
        try:
            inverse = _inverse(plain, shift)
            return eigsh(plain, k=count, sigma=shift, which="LM", v0=start, OPinv=inverse)
        except (ArpackNoConvergence, RuntimeError) as error:
            log.debug("inverse iteration failed: %s", error)
    basis = min(n - 1, max(_WIDE_BASIS, _WIDE_BASIS_PER_VECTOR * count))
    try:
        return eigsh(counted, k=count, which="LA", v0=start, ncv=basis, maxiter=n, tol=_ACCURACY)
    except ArpackNoConvergence:
        raise GnnsyncError(
            f"the {count} leading eigenvectors of a matrix with {n} rows did not converge: its "
            "leading eigenvalues are too close to each other"
        ) from None


def _inverse(matrix: sp.csc_array, shift: float) -> LinearOperator:
    """(M - shift·I)⁻¹ by a factorisation in minimum-degree order of the symmetric pattern.

    The shift is outside the spectrum: the matrix is definite and needs no pivoting.
    """
    shifted = (matrix - shift * sp.eye_array(matrix.shape[0], format="csc")).tocsc()
    options = {"SymmetricMode": True}
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return LinearOperator(matrix.shape, factor.solve, dtype=shifted.dtype)


def _fills_little(matrix: sp.csr_array) -> bool:
    """Whether a factor of the matrix has few entries.

    A connected graph with c independent cycles reduces to at most 2(c - 1) nodes of degree ≥ 3 when
    trees and chains are eliminated: that bounds the fill. Other sparse graphs are factorised too: a
    small gap, where this is asked, means small separators.
    """
    n = matrix.shape[0]
    pairs = (matrix.nnz - np.count_nonzero(matrix.diagonal())) // 2
    core = min(n, 2 * max(pairs - n + 1, 0))
    return core <= _FACTOR_CORE or (pairs <= _SPARSE_DEGREE * n and n <= _SPARSE_NODES)


def _row_sums(matrix: sp.csr_array) -> FloatArray:
    size = sp.csr_array((np.abs(matrix.data), matrix.indices, matrix.indptr), matrix.shape)
    return size.sum(axis=1)


def _spectral_bound(matrix: sp.csr_array) -> float:
    """max over entries (i, j) of √(R_i R_j), R the absolute row sums (Berman and Zhang 2001)."""
    rows = _row_sums(matrix)
    of_entry = np.repeat(rows, np.diff(matrix.indptr))
    return float(np.sqrt((of_entry * rows[matrix.indices]).max()))
