"""Digraph encoders, one per file."""

from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.encoders.dimpa import DIMPA

__all__ = ["DIMPA", "Encoder"]
