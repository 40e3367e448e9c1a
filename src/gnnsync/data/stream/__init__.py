"""Training data of the inductive network: a stream of random graphs, and held-out sets.

Needs NumPy and SciPy only; the LightningDataModule is in `gnnsync.data.stream.datamodule`.
"""

from gnnsync.data.stream.draw import GraphLaw, numbered_graph
from gnnsync.data.stream.held_out import TEST, VALIDATION, Cell, HeldOutNetworks

__all__ = ["TEST", "VALIDATION", "Cell", "GraphLaw", "HeldOutNetworks", "numbered_graph"]
