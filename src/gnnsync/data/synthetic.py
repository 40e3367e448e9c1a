"""The paper's synthetic data: a random measurement graph under the outlier model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnnsync.data.base import Networks
from gnnsync.data.lazy import lightning_names
from gnnsync.data.measurement import MeasurementModel
from gnnsync.data.outliers import ORIENTATIONS, observe
from gnnsync.data.priors import Prior
from gnnsync.errors import GraphError, check_choice, check_integer, check_real
from gnnsync.graph import MeasurementGraph

log = logging.getLogger(__name__)

__getattr__ = lightning_names(__name__, "SyntheticDataModule")


class SyntheticNetworks(Networks):
    """ERO, BAO and RGGO networks: `measurement` chooses the pairs, `angles` the truth.

    One network seed feeds independent streams for the pairs, the angles and the observations, so
    that networks of one seed at different η share their pairs and angles.

    Args:
        measurement: draws pairs from (n, p, seed); see `gnnsync.data.measurement`.
        angles: prior of the true angles; see `gnnsync.data.priors`.
        n: number of nodes.
        p: edge density parameter of the measurement graph.
        eta: outlier fraction η.
        k: number of groups (sets of angles).
        orientation: `random`, `upper` or `released` (leaks the truth, see `observe`).
        inlier_noise: standard deviation σ of the noise on inliers.
        max_draws: how many measurement graphs to draw until one is connected.
        seeds: one network per seed.
    """

    def __init__(
        self,
        measurement: MeasurementModel,
        angles: Prior,
        n: int = 360,
        p: float = 0.05,
        eta: float = 0.0,
        k: int = 1,
        orientation: str = "random",
        inlier_noise: float = 0.0,
        max_draws: int = 100,
        seeds: Sequence[int] = (10, 20, 30, 40, 50),
    ) -> None:
        super().__init__(k=k, seeds=seeds)
        self.measurement, self.angles = measurement, angles
        self.n = check_integer("n", n, 2)
        self.p = check_real("p", p, 0, 1)
        self.eta = check_real("eta", eta, 0, 1)
        self.orientation = check_choice("orientation", orientation, ORIENTATIONS)
        self.inlier_noise = check_real("inlier_noise", inlier_noise, 0)
        self.max_draws = check_integer("max_draws", max_draws, 1)

    def make_graph(self, seed: int) -> MeasurementGraph:
        """Draw until the measurement graph is connected, then observe it."""
        for_pairs, for_angles, for_offsets = np.random.default_rng(seed).spawn(3)
        angles = self.angles(self.n, self.k, for_angles)
        for draw in range(self.max_draws):
            pairs = self.measurement(self.n, self.p, int(for_pairs.integers(2**31)))
            graph = MeasurementGraph(pairs, np.zeros(pairs.shape[1]), self.n)
            if graph.is_connected:
                if draw:
                    log.info("network seed %d: connected after %d redraws", seed, draw)
                break
        else:
            raise GraphError(
                f"no connected measurement graph in {self.max_draws} draws for n = {self.n}, "
                f"p = {self.p:g}, seed {seed}: raise p (data.p) or max_draws (data.max_draws)"
            )
        return observe(
            pairs,
            angles,
            self.eta,
            rng=for_offsets,
            orientation=self.orientation,
            inlier_noise=self.inlier_noise,
        )

    def describe(self) -> dict[str, Any]:
        """Model, prior and parameters."""
        return {
            "graph": _name(self.measurement),
            "angles": _name(self.angles),
            "n": self.n,
            "p": self.p,
            "eta": self.eta,
            "k": self.k,
            "orientation": self.orientation,
            "inlier_noise": self.inlier_noise,
        }


def _name(part: Any) -> str:
    """Name of a function, of the function inside a `functools.partial`, or of an object's class."""
    function = getattr(part, "func", part)
    return str(getattr(function, "__name__", type(function).__name__))
