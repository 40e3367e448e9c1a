"""`Localization`: the steps from distances to a map.

distances
  patches       small sets of points that the distances keep rigid   patches/rigid.py
  embedding     positions of each patch in a frame of its own        patches/embedding.py
  alignment     motions between patches that overlap                 synchronization/alignment.py
  reflections   which patches are mirror images                      synchronization/reflections.py
    -> measurement graph: one node per patch, one offset per pair
  rotations     any method of the package                            gnnsync.methods
  translations  positions of all points in patches                   synchronization/translations.py
  (joining)     bodies of patches and single points, by distances  synchronization/joining.py
  repair        folds taken out, other starts tried                  repair/folds.py
  refinement    fit to all distances                                 fitting/refinement.py
positions
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.graph import MeasurementGraph
from gnnsync.localization.base import (
    Alignment,
    Embedding,
    LocalPatches,
    PatchAlignments,
    PatchChoice,
    PatchMeasurements,
    Refinement,
    Reflections,
    Repair,
    Translations,
)
from gnnsync.localization.fitting.refinement import RobustRefinement
from gnnsync.localization.patches.embedding import StressEmbedding
from gnnsync.localization.patches.rigid import RigidNeighbourhoods
from gnnsync.localization.patches.truth import patch_truth
from gnnsync.localization.repair.folds import FoldRepair
from gnnsync.localization.synchronization.alignment import RobustAlignment
from gnnsync.localization.synchronization.joining import join_bodies
from gnnsync.localization.synchronization.reflections import BeliefReflections
from gnnsync.localization.synchronization.translations import RobustTranslations
from gnnsync.methods.auto import Auto
from gnnsync.methods.base import Method
from gnnsync.positions import Positions
from gnnsync.solution import Solution
from gnnsync.typing import FloatArray, IntArray
from gnnsync.work import plan, stage

# Usual seconds of the stages, in any unit.
_COSTS = {
    "patches": 1.0,
    "embedding": 5.0,
    "alignment": 1.0,
    "reflections": 1.0,
    "rotations": 15.0,
    "translations": 1.0,
    "repair": 20.0,
    "refinement": 2.0,
}


@dataclass(frozen=True)
class Localization:
    """Points of the plane from distances, by patches, synchronization and refinement.

    After ASAP (Cucuringu, Lipman and Singer, ACM Trans. Sensor Netw. 8, 2012), with robust steps.

    Args:
        patches: chooses the points of each patch.
        embedding: places them by the distances among them.
        alignment: finds the motions between patches.
        reflections: decides which patches are mirror images.
        rotations: method for the angles of the patches.
        translations: places all points by the patches.
        repair: looks for a better map near this one.
        refinement: fits the points to all distances.
    """

    patches: PatchChoice = field(default_factory=RigidNeighbourhoods)
    embedding: Embedding = field(default_factory=StressEmbedding)
    alignment: Alignment = field(default_factory=RobustAlignment)
    reflections: Reflections = field(default_factory=BeliefReflections)
    rotations: Method = field(default_factory=Auto)
    translations: Translations = field(default_factory=RobustTranslations)
    repair: Repair = field(default_factory=FoldRepair)
    refinement: Refinement = field(default_factory=RobustRefinement)

    def __call__(self, network: DistanceNetwork, *, seed: int = 0) -> Positions:
        """Positions of the points of a network."""
        start = time.perf_counter()
        plan(_COSTS)
        found = self.measure(network, seed=seed)
        with stage("rotations"):
            solution = self._rotations(found.graph, seed)
        positions = self.assemble(network, found, solution, seed=seed)
        return positions.replace(seconds=time.perf_counter() - start)

    def measure(self, network: DistanceNetwork, *, seed: int = 0) -> PatchMeasurements:
        """The steps before the rotations: the measurement graph of the patches."""
        with stage("patches"):
            chosen = self.patches(network)
        with stage("embedding"):
            patches = self.embedding(network, chosen, seed=seed)
        with stage("alignment"):
            alignments = self.alignment(patches)
        with stage("reflections"):
            signs = self.reflections(alignments, len(patches))
        return patch_measurements(network, patches, alignments, signs)

    def assemble(
        self,
        network: DistanceNetwork,
        found: PatchMeasurements,
        solution: Solution,
        *,
        seed: int = 0,
    ) -> Positions:
        """The steps after the rotations: the map that angles of the patches give."""
        start = time.perf_counter()
        with stage("translations"):
            angles = solution.angles[:, 0]
            bodies = list(self._bodies(found, angles, network.num_points))
            points = join_bodies(network, bodies)
        with stage("repair"):
            points = self.repair(network, [points], seed=seed)
        with stage("refinement"):
            positions = self.refinement(network, points, seed=seed)
        dropped = found.patches.dropped
        return positions.replace(
            rotations=solution,
            seconds=time.perf_counter() - start,
            diagnostics=positions.diagnostics
            | found.diagnostics
            | {"patches": len(found.patches), "patches_dropped": dropped, "bodies": len(bodies)},
        )

    def _rotations(self, graph: MeasurementGraph, seed: int) -> Solution:
        """The method's solution, with patches that nothing joins solved apart."""
        if graph.num_components == 1 and graph.num_edges:
            return self.rotations(graph, seed=seed)
        angles = np.zeros(graph.num_nodes)
        confidence = np.ones(graph.num_edges)
        converged, iterations = True, 0
        for nodes in _members(graph.components):
            if len(nodes) > 1:
                part, edges = graph.subgraph(nodes)
                own = self.rotations(part, seed=seed)
                angles[nodes], confidence[edges] = own.angles[:, 0], own.edge_confidence
                converged &= own.converged
                iterations += own.iterations
        return Solution.from_angles(
            graph,
            angles,
            edge_confidence=confidence,
            converged=converged,
            iterations=iterations,
            stop_reason="each component of the patches by itself",
        )

    def _bodies(
        self, found: PatchMeasurements, angles: FloatArray, n: int
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Points and positions of each set of patches that alignments join."""
        for chosen in _members(found.graph.components):
            part = _part(found.patches, chosen)
            if not len(part.member):
                continue
            place = self.translations(part, found.signs[chosen], angles[chosen], n)
            points = np.unique(part.member)
            yield points, place[points]


def patch_measurements(
    network: DistanceNetwork, patches: LocalPatches, alignments: PatchAlignments, signs: IntArray
) -> PatchMeasurements:
    """The graph of the rotations of patches with known reflections.

    With patch a reflected where s_a = -1, the motion x_a ≈ R(ρ) diag(1, f) x_b + t of a pair with
    f = s_a s_b says θ_a - θ_b = -s_a ρ. Pairs whose f differs are left out.
    """
    a, b = alignments.pairs
    kept = alignments.reflection == signs[a] * signs[b]
    pairs = alignments.pairs[:, kept]
    offset = -signs[pairs[0]] * alignments.rotation[kept]
    graph = MeasurementGraph(pairs, offset, max(len(patches), 1), weight=alignments.weight[kept])
    diagnostics: dict[str, object] = {"reflections_inconsistent": int((~kept).sum())}
    if network.points is not None and len(patches):
        angles, group, wrong = patch_truth(network.points, patches, signs, graph)
        graph = graph.replace(angles=angles[:, None], group=group)
        diagnostics["reflections_wrong"] = wrong
    return PatchMeasurements(patches, signs, alignments, graph, diagnostics)


def _members(label: IntArray) -> Iterator[IntArray]:
    """Numbers of the nodes of each component."""
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    yield from np.split(order, cuts)


def _part(patches: LocalPatches, chosen: IntArray) -> LocalPatches:
    """Some of the patches."""
    chosen = chosen[chosen < len(patches)]
    sizes = np.diff(patches.indptr)[chosen]
    kept = np.concatenate(
        [np.arange(patches.indptr[a], patches.indptr[a + 1]) for a in chosen.tolist()]
        or [np.zeros(0, np.int64)]
    )
    assert patches.position is not None
    assert patches.deviation is not None
    return replace(
        patches,
        indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        member=patches.member[kept],
        position=patches.position[kept],
        deviation=patches.deviation[chosen],
    )
