"""Deprecated name of parts of `gnnsync.solution` and `gnnsync.metrics`, kept from version 0.1."""

import warnings

from gnnsync.metrics import estimate_outliers
from gnnsync.solution import QUANTILES, SURE, summarize

__all__ = ["QUANTILES", "SURE", "estimate_outliers", "summarize"]

warnings.warn(
    "gnnsync.summary is now gnnsync.solution (summarize) and gnnsync.metrics (estimate_outliers); "
    "the old name goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
