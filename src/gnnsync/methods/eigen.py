"""Leading eigenvectors of a sparse Hermitian matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

# Below this size LAPACK on the dense matrix is faster than ARPACK, and ARPACK needs k < n - 1.
_DENSE_NODES = 64


def top_eigenvectors(
    matrix: sp.csr_array, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.complex128]]:
    """The `count` algebraically largest eigenvalues, descending, and their eigenvectors (n, count).

    `count` may exceed n; the missing vectors repeat the last one.
    """
    n = matrix.shape[0]
    if n <= max(_DENSE_NODES, count + 2):
        values, vectors = np.linalg.eigh(matrix.toarray())
        order = np.minimum(np.arange(count), n - 1)
        return values[::-1][order], vectors[:, ::-1][:, order]
    start = np.exp(2j * np.pi * rng.random(n))
    values, vectors = eigsh(matrix, k=count, which="LA", v0=start)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]
