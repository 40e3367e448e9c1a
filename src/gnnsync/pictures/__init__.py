"""Deprecated name of `gnnsync.plots`, kept for code written for version 0.1."""

import warnings

warnings.warn(
    "gnnsync.pictures is now gnnsync.plots; the old name goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
