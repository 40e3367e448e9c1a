"""Digraph encoders, one per file."""

from gnnsync.learn.encoders.base import Encoder, with_batch
from gnnsync.learn.encoders.connection import Connection
from gnnsync.learn.encoders.digcn import DiGCN
from gnnsync.learn.encoders.dimpa import DIMPA
from gnnsync.learn.encoders.magnet import MagNet
from gnnsync.learn.encoders.pyg import PyG

__all__ = ["DIMPA", "Connection", "DiGCN", "Encoder", "MagNet", "PyG", "with_batch"]
