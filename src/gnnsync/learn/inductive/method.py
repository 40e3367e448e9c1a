"""The trained network as a method: one pass over any graph, then a polish if wanted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from gnnsync.anchors import Anchors, GivenAnchors, NoAnchors, anchored
from gnnsync.errors import (
    ParameterError,
    check_bool,
    check_choice,
    check_integer,
    check_real,
    first_line,
)
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.calibration import calibrated_estimate
from gnnsync.learn.inductive.finetune import LOSSES, finetuned
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.passes import Pass, network_pass
from gnnsync.learn.inductive.polish import polished
from gnnsync.learn.inductive.weights import load_weights
from gnnsync.methods.base import ClassicalMethod, Estimate, tree_estimate
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.belief.propagation import Posterior
from gnnsync.methods.robust.unrolled.start import (
    PreparedGraph,
    prepare,
    seed_problem,
    with_solved_seed,
)
from gnnsync.solution import NODE_TOLERANCE, Solution
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
            for k > 2 and where beliefs have to spread from a seed.
        polish: fit the angles by EM from those of the network, so that exact inliers give exact
            angles, and use the density of the angles; see `gnnsync.learn.inductive.polish`.
        finetune: train a copy of the network on the graph itself, without its truth; see
            `gnnsync.learn.inductive.finetune`.
        finetune_loss: `upset` or `cycle`, the losses of the paper.
        finetune_steps: steps of Adam.
        finetune_lr: its learning rate.
        anchors: angles that are known beforehand. The beliefs of these nodes are certain, and the
            answer has their angles exactly.
        device: where the network runs: `cpu`, `cuda`, ...
    """

    name = "gnnsync_inductive"
    any_k = True
    stops_early = True

    weights: str | None = None
    layers: int | None = None
    polish: bool = True
    finetune: bool = False
    finetune_loss: str = "upset"
    finetune_steps: int = 30
    finetune_lr: float = 1e-4
    anchors: Anchors = field(default_factory=NoAnchors)
    device: str = "cpu"

    def check(self) -> None:
        """Ranges of the parameters; files and devices must exist."""
        if self.weights is not None and not Path(self.weights).is_file():
            allowed = "the name of a .safetensors or .ckpt file, or null for the weights shipped"
            raise ParameterError("weights", str(self.weights), allowed)
        if self.layers is not None:
            check_integer("layers", self.layers, 1)
        check_bool("polish", self.polish)
        check_bool("finetune", self.finetune)
        check_choice("finetune_loss", self.finetune_loss, LOSSES)
        check_integer("finetune_steps", self.finetune_steps, 1)
        check_real("finetune_lr", self.finetune_lr, 0, open_low=True)
        if self.refine and not isinstance(self.anchors, NoAnchors):
            raise ParameterError("refine", self.refine, "0 with anchors, which it would move")
        _check_device(self.device)

    def __call__(
        self,
        graph: MeasurementGraph,
        k: int = 1,
        *,
        seed: int = 0,
        start: FloatArray | None = None,
    ) -> Solution:
        """Estimate k groups of angles, component by component; initial angles are refused."""
        if isinstance(self.anchors, NoAnchors) or graph.is_connected or start is not None:
            return super().__call__(graph, k, seed=seed, start=start)
        check_integer("k", k, 1)
        known = self.anchors(graph, k)
        if known is None:
            return replace(self, anchors=NoAnchors())(graph, k, seed=seed)
        return self._by_components(graph, k, seed, known)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k), with the estimated η and σ in the diagnostics."""
        known = self.anchors(graph, k)
        if known is None and graph.num_edges == graph.num_nodes - 1:
            return tree_estimate(graph, k)
        found, extended = self.uncalibrated(graph, k, rng, known)
        found = calibrated_estimate(found, k, polished=self.polish, extended=extended)
        return found if known is None else _held(found, known)

    def uncalibrated(
        self,
        graph: MeasurementGraph,
        k: int,
        rng: np.random.Generator,
        known: FloatArray | None = None,
    ) -> tuple[Estimate, bool]:
        """The estimate before its confidences are calibrated, and whether the graph is extended.

        Args:
            graph: a connected graph.
            k: number of groups.
            rng: for the initialisation and the confidence.
            known: (n, k) anchors, NaN where an angle is unknown.
        """
        network = stored_network(self.weights, self.device)
        solve = network_pass(network, self.device)
        prepared = _prepared(solve, graph, k, rng, known)
        losses = {}
        if self.finetune:
            network, values = finetuned(
                network,
                graph,
                collate([prepared]).to(self.device),
                loss=self.finetune_loss,
                steps=self.finetune_steps,
                lr=self.finetune_lr,
                sweeps=self.layers,
            )
            solve = network_pass(network, self.device)
            losses = {"first_loss": values[0], "loss": min(values)}
        found, inlier = solve(prepared, self.layers)
        if self.polish:
            estimate = polished(graph, found, rng, extended=prepared.extended)
        else:
            estimate = _plain(found, inlier)
        estimate = replace(estimate, diagnostics={**estimate.diagnostics, **losses})
        return estimate, prepared.extended

    def _by_components(
        self, graph: MeasurementGraph, k: int, seed: int, known: FloatArray
    ) -> Solution:
        """Each component with its own anchors; diagnostics are those of the largest."""
        angles, right = np.empty((graph.num_nodes, k)), np.ones(graph.num_nodes)
        confidence = np.ones(graph.num_edges)
        solutions = []
        for label in range(graph.num_components):
            nodes = np.flatnonzero(graph.components == label)
            part, edges = graph.subgraph(nodes)
            own = replace(self, anchors=GivenAnchors(known[nodes]))(part, k, seed=seed)
            angles[nodes] = np.where(np.isfinite(known[nodes]), known[nodes], own.angles)
            confidence[edges] = own.edge_confidence
            if own.node_confidence is not None:
                right[nodes] = own.node_confidence
            solutions.append(own)
        largest = max(solutions, key=lambda solution: len(solution.angles))
        return Solution.from_angles(
            graph,
            angles,
            edge_confidence=confidence,
            node_confidence=right,
            converged=all(solution.converged for solution in solutions),
            iterations=max(solution.iterations for solution in solutions),
            stop_reason=largest.stop_reason,
            diagnostics=largest.diagnostics,
            seconds=sum(solution.seconds for solution in solutions),
        )


def _prepared(
    solve: Pass,
    graph: MeasurementGraph,
    k: int,
    rng: np.random.Generator,
    known: FloatArray | None,
) -> PreparedGraph:
    """The graph with its initialisation, in which a seed of k > 1 groups is solved already."""
    prepared = prepare(graph, k, rng=rng, known=known)
    seed = seed_problem(prepared, rng)
    if seed is None:
        return prepared
    found, _ = solve(seed, None)
    return with_solved_seed(prepared, point_estimates(found.marginals, found.origin)[1])


def _plain(found: Posterior, inlier: FloatArray) -> Estimate:
    """Posterior means of the network's beliefs, with confidences from them."""
    angles = point_estimates(found.marginals, found.origin)[1]
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


def _held(estimate: Estimate, known: FloatArray) -> Estimate:
    """The estimate rotated to the anchors (n, k), NaN elsewhere, with these in place."""
    right = estimate.node_confidence
    if right is not None:
        right = np.where(np.isfinite(known).all(axis=1), 1.0, right)
    return replace(estimate, angles=anchored(estimate.angles, known), node_confidence=right)


def _check_device(name: str) -> None:
    """Refuse devices that torch does not know, or that this machine does not have."""
    try:
        torch.zeros(1, device=name).item()
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        reason = first_line(error)
        allowed = f"a torch device of this machine, such as cpu ({reason})"
        raise ParameterError("device", name, allowed) from None


@lru_cache(maxsize=_KEPT_NETWORKS)
def _loaded(path: str | None, changed: float, device: str) -> UnrolledPropagation:
    """A network by its file and the time of its last change."""
    return load_weights(path).eval().to(device)


def stored_network(path: str | None, device: str = "cpu") -> UnrolledPropagation:
    """The network of a file, kept in memory; None for the weights of the package."""
    changed = Path(path).stat().st_mtime if path is not None and Path(path).is_file() else 0.0
    return _loaded(path, changed, device)
