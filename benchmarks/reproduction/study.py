"""The parts of the study: which preset of the paper, on which part of its grid."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "reproduction"
PAGE = ROOT / "docs" / "reproduction.md"
PROTOCOLS = ("paper", "repaired")


@dataclass(frozen=True)
class Part:
    """One sweep of the study.

    Args:
        name: its name here, and the folder of its jobs.
        preset: preset below `experiment=paper/`.
        overrides: what the command says beyond the preset.
        shows: what the sweep is about, in one line.
    """

    name: str
    preset: str
    shows: str
    overrides: tuple[str, ...] = ()

    def words(self, protocol: str) -> list[str]:
        """The overrides of the sweep under a protocol."""
        return [f"experiment=paper/{self.preset}", f"protocol={protocol}", *self.overrides]

    def command(self, protocol: str) -> str:
        """The sweep as a command line."""
        words = [*self.words(protocol), "hydra/launcher=joblib"]
        return "gnnsync run -m " + shlex.join(words)


def _wide(k: int, etas: str) -> Part:
    """A larger part of a main preset: all graphs and densities, angle options 1 and 2."""
    return Part(
        f"main_k{k}_wide",
        f"main_k{k}",
        f"the same on all graphs and densities, options 1 and 2, k = {k}",
        ("scale=paper", "data/angles=gamma,normal_rank1", f"data.eta={etas}"),
    )


_GNNSYNC_K1 = ("method=gnnsync", "data.p=0.15", "data.eta=0.2,0.4,0.6,0.8")

# In the order in which they run: cheap and informative ones first.
PARTS = (
    Part("main_k1", "main_k1", "GNNSync and the baselines, k = 1"),
    Part("us_cities", "us_cities", "localization on the map of US cities"),
    Part("pacm", "pacm", "localization on the PACM point cloud"),
    Part("main_k2", "main_k2", "three losses of GNNSync and the baselines, k = 2"),
    Part("main_k3", "main_k3", "three losses of GNNSync and the baselines, k = 3"),
    Part("ablation_k1", "ablation_k1", "the projected gradient steps, k = 1"),
    Part("features_k1", "features_k1", "the baselines as input features, k = 1"),
    Part("refined_k1", "refined_k1", "baselines with projected gradient steps, k = 1"),
    Part("refined_k2", "refined_k2", "baselines with projected gradient steps, k = 2"),
    Part("features_k2", "features_k2", "the baselines as input features, k = 2"),
    Part("main_k4", "main_k4", "three losses of GNNSync and the baselines, k = 4"),
    Part("linear_k2", "linear_k2", "the loss cycle + τ · upset, k = 2"),
    Part("ablation_k2", "ablation_k2", "the projected gradient steps, k = 2"),
    Part(
        "encoders",
        "main_k1",
        "another directed graph network as encoder",
        (*_GNNSYNC_K1, "data=ero,rggo", "model/encoder=dimpa,digcn"),
    ),
    Part(
        "sizes",
        "main_k1",
        "other numbers of nodes",
        (*_GNNSYNC_K1, "data=ero", "data.n=300,360,500"),
    ),
    Part(
        "sdp",
        "main_k1",
        "semidefinite relaxation against the spectral one",
        ("method=spectral,sdp", "data=ero,rggo", *_GNNSYNC_K1[1:]),
    ),
    _wide(1, "0.2,0.4,0.6,0.8,0.9"),
    _wide(2, "0.2"),
    _wide(3, "0.2"),
)
BY_NAME = {part.name: part for part in PARTS}
