"""Rigidity of graphs in the plane: what distances determine, whatever their values are.

All answers are *generic*: they hold for all positions of the points but a set of measure zero.
"""

from gnnsync.rigidity.localizability import localizable_points
from gnnsync.rigidity.neighbourhoods import neighbourhood_bodies
from gnnsync.rigidity.structure import Rigidity

__all__ = ["Rigidity", "localizable_points", "neighbourhood_bodies"]
