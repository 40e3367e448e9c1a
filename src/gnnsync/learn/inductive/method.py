"""The trained network as a method: one pass over any graph, then a polish if wanted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from gnnsync.errors import ParameterError, check_bool, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.inductive.batch import GraphBatch, collate
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.polish import polished
from gnnsync.learn.inductive.propagation import State
from gnnsync.learn.inductive.weights import load_weights
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.belief.propagation import Posterior
from gnnsync.methods.robust.unrolled.start import prepare
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import FloatArray

# Networks that stay in memory, by file.
_KEPT_NETWORKS = 4


@dataclass(frozen=True)
class GNNSyncInductive(ClassicalMethod):
    """Unrolled belief propagation, trained once on many graphs, that solves a new one in one pass.

    The noise need not be known. See `gnnsync.learn.inductive.network` for the network and the
    model card beside the weights for what it was trained on.

    Args:
        weights: a `.safetensors` file or a checkpoint of a training; None for the weights that
            come with the package.
        layers: number of sweeps; None for the number that the network was trained with, and more
            for k > 1 and where beliefs have to spread from a seed.
        polish: fit the angles by EM from those of the network, so that exact inliers give exact
            angles, and use the density of the angles; see `gnnsync.learn.inductive.polish`.
        finetune: train a copy of the network on the graph itself, without its truth; see
            `gnnsync.learn.inductive.finetune`.
        device: where the network runs: `cpu`, `cuda`, ...
    """

    name = "gnnsync_inductive"
    any_k = True

    weights: str | None = None
    layers: int | None = None
    polish: bool = True
    finetune: bool = False
    device: str = "cpu"

    def check(self) -> None:
        """Ranges of the parameters."""
        if self.layers is not None:
            check_integer("layers", self.layers, 1)
        check_bool("polish", self.polish)
        check_bool("finetune", self.finetune)
        try:
            torch.device(self.device)
        except RuntimeError:
            raise ParameterError("device", self.device, "a torch device such as cpu") from None

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k), with the estimated η and σ in the diagnostics."""
        network = stored_network(self.weights, self.device)
        batch = collate([prepare(graph, k, rng=rng)]).to(self.device)
        sweeps = self.layers or network.num_sweeps(batch)
        with torch.inference_mode():
            state = network.final(batch, sweeps)
        found = posterior(network, state, batch, sweeps)
        if self.polish:
            return polished(graph, found, rng)
        return plain_estimate(found, state)


def posterior(
    network: UnrolledPropagation, state: State, batch: GraphBatch, sweeps: int
) -> Posterior:
    """The marginals of a single graph in float64."""
    with torch.inference_mode():
        marginals = network.marginals(state).double().cpu().numpy()
    return Posterior(
        marginals / marginals.sum(axis=2, keepdims=True),
        batch.start.cpu().numpy(),
        state.share[0].double().cpu().numpy(),
        float(state.log_sigma[0].exp()),
        sweeps,
        0.0,
    )


def plain_estimate(found: Posterior, state: State) -> Estimate:
    """Posterior means of the network's beliefs, with confidences from them."""
    angles = point_estimates(found.marginals, found.origin)[1]
    inlier = state.membership.sum(1).clamp(0.0, 1.0).double().cpu().numpy()
    return Estimate(
        angles,
        iterations=found.sweeps,
        stop_reason="all layers of the network",
        edge_confidence=inlier,
        node_confidence=_node_confidence(found, angles),
        diagnostics={"eta": 1.0 - float(found.share.sum()), "sigma": found.sigma},
    )


def _node_confidence(found: Posterior, angles: FloatArray) -> FloatArray:
    """Probability (n,) that all angles of a node are within the tolerance of the truth."""
    return found.mass_near(angles, NODE_TOLERANCE).prod(axis=1)


@lru_cache(maxsize=_KEPT_NETWORKS)
def _loaded(path: str | None, changed: float, device: str) -> UnrolledPropagation:
    """A network by its file and the time of its last change."""
    return load_weights(path).eval().to(device)


def stored_network(path: str | None, device: str = "cpu") -> UnrolledPropagation:
    """The network of a file, kept in memory; None for the weights of the package."""
    changed = Path(path).stat().st_mtime if path is not None and Path(path).is_file() else 0.0
    return _loaded(path, changed, device)
