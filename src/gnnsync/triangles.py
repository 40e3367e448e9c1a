"""Deprecated name of a part of `gnnsync.topology`, kept for code written for version 0.1."""

import warnings

from gnnsync.topology import Triangles, draw_triangles, find_triangles

__all__ = ["Triangles", "draw_triangles", "find_triangles"]

warnings.warn(
    "gnnsync.triangles is now gnnsync.topology; the old name goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
