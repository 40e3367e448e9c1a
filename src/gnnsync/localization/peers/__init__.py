"""Other methods that locate points by distances, to compare with: SMACOF, MDS-MAP, relaxation."""

from gnnsync.localization.peers.majorisation import Majorisation
from gnnsync.localization.peers.mds_map import MDSMap
from gnnsync.localization.peers.relaxation import Relaxation
from gnnsync.localization.peers.smacof import Smacof

__all__ = ["MDSMap", "Majorisation", "Relaxation", "Smacof"]
