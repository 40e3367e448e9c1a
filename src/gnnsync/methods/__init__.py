"""Classical methods, one file each. `METHODS` names them all."""

from gnnsync.methods.base import ClassicalMethod, DisconnectedGraphWarning, Estimate, Method
from gnnsync.methods.refine import Refined, projected_gradient_steps, refined
from gnnsync.methods.spectral import Spectral, SpectralRN
from gnnsync.methods.trivial import Trivial

METHODS: dict[str, type[ClassicalMethod]] = {
    "spectral": Spectral,
    "spectral_rn": SpectralRN,
    "trivial": Trivial,
}

__all__ = [
    "METHODS",
    "ClassicalMethod",
    "DisconnectedGraphWarning",
    "Estimate",
    "Method",
    "Refined",
    "Spectral",
    "SpectralRN",
    "Trivial",
    "projected_gradient_steps",
    "refined",
]
