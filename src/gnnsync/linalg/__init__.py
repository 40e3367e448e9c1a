"""Sparse linear algebra on measurement graphs: operators, least squares, eigenvectors."""
