"""Classical methods, one file each. `METHODS` names them all."""

from gnnsync.methods.auto import Auto
from gnnsync.methods.base import (
    ClassicalMethod,
    DisconnectedGraphWarning,
    Estimate,
    Method,
    ReplicaMethod,
    ReplicaSolutions,
    RunContext,
)
from gnnsync.methods.belief import Belief
from gnnsync.methods.cemp import CEMPGCW, CEMPMST
from gnnsync.methods.cycles import Cycles
from gnnsync.methods.gnc import GNC
from gnnsync.methods.gnc_angles import GNCAngles
from gnnsync.methods.gpm import GPM
from gnnsync.methods.irls import IRLS
from gnnsync.methods.ppe import PPE
from gnnsync.methods.refine import Refined, projected_gradient_steps, refined
from gnnsync.methods.sdp import SDP
from gnnsync.methods.spectral import Spectral, SpectralDisentangled, SpectralRN
from gnnsync.methods.tas import TAS
from gnnsync.methods.transync import TranSync
from gnnsync.methods.trivial import Trivial

METHODS: dict[str, type[ClassicalMethod]] = {
    "spectral": Spectral,
    "spectral_rn": SpectralRN,
    "spectral_disentangled": SpectralDisentangled,
    "gpm": GPM,
    "sdp": SDP,
    "irls": IRLS,
    "transync": TranSync,
    "cemp_gcw": CEMPGCW,
    "cemp_mst": CEMPMST,
    "tas": TAS,
    "ppe": PPE,
    "belief": Belief,
    "cycles": Cycles,
    "gnc": GNC,
    "gnc_angles": GNCAngles,
    "auto": Auto,
    "trivial": Trivial,
}

__all__ = [
    "CEMPGCW",
    "CEMPMST",
    "GNC",
    "GPM",
    "IRLS",
    "METHODS",
    "PPE",
    "SDP",
    "TAS",
    "Auto",
    "Belief",
    "ClassicalMethod",
    "Cycles",
    "DisconnectedGraphWarning",
    "Estimate",
    "GNCAngles",
    "Method",
    "Refined",
    "ReplicaMethod",
    "ReplicaSolutions",
    "RunContext",
    "Spectral",
    "SpectralDisentangled",
    "SpectralRN",
    "TranSync",
    "Trivial",
    "projected_gradient_steps",
    "refined",
]
