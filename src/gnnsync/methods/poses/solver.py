"""From a pose graph to poses: a start, the closures that agree, the optimum of what is left."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gnnsync.angles import wrap
from gnnsync.errors import check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.poses.closures import ClosureSearch, Selection
from gnnsync.methods.poses.jumps import find_jump
from gnnsync.methods.poses.normal_equations import NormalEquations
from gnnsync.methods.poses.optimise import Optimum, optimise, place_poses
from gnnsync.methods.poses.residual import RelativePoses
from gnnsync.pose_graph import PoseGraph, PoseSolution, rotate
from gnnsync.solution import Solution
from gnnsync.topology import component_labels, forest_angles, minimum_spanning_edges
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.work import plan, reached_time_limit, stage, time_is_up

log = logging.getLogger(__name__)

# The last optimisation: relative fall of the cost that ends it, and most steps.
TOLERANCE, MAX_STEPS = 1e-10, 300
# If more than this share of the closures is rejected, larger noise than stated is tried.
MOST_REJECTED = 0.5
# Places where the odometry may be grossly wrong, and by how much the score must rise for each.
MOST_JUMPS, JUMP_GAIN = 5, 20.0
# Rounds of reweighted least squares for positions, and the residual (in stated standard
# deviations) from which a translation loses weight.
_POSITION_ROUNDS, _POSITION_KNEE = 10, 3.0

# Relative times of the stages, for the progress that is shown.
_COSTS = {"headings": 5.0, "closures": 10.0, "optimum": 1.0}

HeadingSolver = Callable[[MeasurementGraph], Solution]


def solve_pose_graph(
    graph: PoseGraph, headings: HeadingSolver | None = None, *, seed: int = 0
) -> PoseSolution:
    """Estimate all poses, with loop closures that do not agree left out.

    If the trusted measurements connect the graph, the poses along them are the start; otherwise,
    or if `headings` is given as well, the headings that it finds and the positions that follow
    from them. Of two starts the one that predicts the closures better is kept. The last step
    minimises ½ Σ rᵀ Ω r over the accepted measurements, with the information as stated. One pose of
    each component is held, the first of those that the graph holds fixed; a warning names others.

    Args:
        graph: the measurements.
        headings: solves the rotations; may be left out if trusted edges connect the graph.
        seed: random seed.
    """
    began = time.perf_counter()
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    edges = RelativePoses.of(graph).definite()
    held = _held(graph)
    plan(_COSTS if headings is not None else _COSTS | {"headings": 0.0})
    with stage("headings"):
        solved = None if headings is None else headings(graph.rotations)
    with stage("closures"):
        found = _select(graph, edges, held, solved, rng)
    kept = edges.part(found.active)
    with stage("optimum"):
        final = optimise(
            kept,
            found.poses,
            np.ones(len(kept)),
            NormalEquations(kept, held),
            tol=TOLERANCE,
            max_iterations=MAX_STEPS,
        )
    poses = _in_place(graph, final.poses, held)
    confidence = 1.0 / (1.0 + np.exp(-found.log_odds))
    log.info("poses: %d of %d measurements accepted", found.active.sum(), len(edges))
    return _solution(graph, poses, confidence, found, final, solved, time.perf_counter() - began)


def trusted_connect(graph: PoseGraph) -> bool:
    """Whether every component of the graph is connected by its trusted measurements alone."""
    rotations = graph.rotations
    chain = rotations.edge_index[:, rotations.edge_trusted]
    return int(component_labels(chain, graph.num_poses).max()) + 1 == rotations.num_components


def _select(
    graph: PoseGraph,
    edges: RelativePoses,
    held: BoolArray,
    solved: Solution | None,
    rng: np.random.Generator,
) -> Selection:
    """The better of the searches from the odometry and from solved headings."""
    trusted = graph.rotations.edge_trusted
    # What nothing checks is not known to be wrong.
    believed = np.ones(len(edges))
    if solved is not None:
        believed = np.nan_to_num(solved.edge_confidence, nan=1.0)
    base = _base(graph, believed)
    searches = []
    if trusted_connect(graph):
        searches.append(_from_odometry(edges, trusted, base, held, rng))
    if solved is not None and not (searches and time_is_up()):
        poses = np.column_stack([np.zeros((graph.num_poses, 2)), wrap(solved.angles[:, 0])])
        poses, weight = _positions(edges, poses, np.where(trusted, 1.0, believed), held)
        search = ClosureSearch(edges, trusted, base, held, rng)
        searches.append(search.run(poses, base | (weight > 0.5)))
    return max(searches, key=_rank)


def _rank(found: Selection) -> tuple[bool, float]:
    """Searches that came to rest first, then by their score."""
    return found.converged, found.score


def _from_odometry(
    edges: RelativePoses,
    trusted: BoolArray,
    base: BoolArray,
    held: BoolArray,
    rng: np.random.Generator,
) -> Selection:
    """Search from the poses along the odometry.

    Again where many rejected closures tell the same jump, or if noise seems to be understated.
    """
    poses = _along(edges, np.flatnonzero(base))
    search = ClosureSearch(edges, trusted, base, held, rng)
    found, scale = search.run(poses), 1.0
    if time_is_up():
        return found
    if (~found.active).sum() > MOST_REJECTED * (~trusted).sum():
        scale = search.likely_scale(poses)
    if scale > 1.0:
        log.info("poses: the noise seems to be %g times the stated one", scale)
        other = ClosureSearch(edges, trusted, base, held, rng, scale).run(poses)
        found = max(found, other, key=_rank)
    for _ in range(MOST_JUMPS):
        if time_is_up():
            break
        jump = find_jump(edges, trusted, found)
        if jump is None:
            break
        other = ClosureSearch(edges, trusted, base, held, rng).run(jump.poses, jump.active)
        log.info("poses: jump at edge %d adds %.4g", jump.edge, other.score - found.score)
        if not other.converged or other.score <= found.score + JUMP_GAIN:
            break
        found = other
    return found


def _base(graph: PoseGraph, believed: FloatArray) -> BoolArray:
    """Trusted measurements, and the most believed ones that connect what they leave apart."""
    rotations = graph.rotations
    order = np.lexsort((-believed, ~rotations.edge_trusted))
    base = rotations.edge_trusted.copy()
    base[minimum_spanning_edges(rotations.edge_index, graph.num_poses, order)] = True
    return base


def _held(graph: PoseGraph) -> BoolArray:
    """One pose (n,) of each component: the first that the graph holds fixed, else the first."""
    component = graph.rotations.components
    number = {name: i for i, name in enumerate(graph.rotations.names)}
    fixed = [number[name] for name in graph.fixed]
    order = np.array([*fixed, *range(graph.num_poses)])
    held = np.zeros(graph.num_poses, bool)
    held[order[np.unique(component[order], return_index=True)[1]]] = True
    ignored = [str(name) for name in dict.fromkeys(graph.fixed) if not held[number[name]]]
    if ignored:
        log.warning(
            "not held fixed: pose %s (only the first fixed pose of a connected component is)",
            ", ".join(ignored),
        )
    return held


def _along(edges: RelativePoses, chosen: IntArray) -> FloatArray:
    """Poses (n, 3) that satisfy the chosen measurements along a spanning forest of them."""
    index = np.stack([edges.end[chosen], edges.start[chosen]])
    forest = minimum_spanning_edges(index, edges.num_poses, np.arange(len(chosen)))
    part, index = edges.part(chosen[forest]), index[:, forest]
    heading = forest_angles(index, part.heading, edges.num_poses)
    step = rotate(heading[part.start], part.translation)
    position = [forest_angles(index, axis, edges.num_poses) for axis in step.T]
    return np.column_stack([*position, heading])


def _positions(
    edges: RelativePoses, poses: FloatArray, believed: FloatArray, held: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Positions for given headings by reweighted least squares, and the last weights (m,)."""
    weight = believed
    for _ in range(_POSITION_ROUNDS):
        # A weight of 0 would take an edge out of the pattern's connected graph.
        poses = place_poses(edges, poses, np.maximum(weight, 1e-6), held)
        size = np.sqrt(edges.squares(poses))
        knee = max(_POSITION_KNEE, float(np.median(size)))
        weight = believed * np.minimum(1.0, knee / np.maximum(size, 1e-12)) ** 2
    return poses, weight


def _in_place(graph: PoseGraph, poses: FloatArray, held: BoolArray) -> FloatArray:
    """The poses of each component moved so that the held one has its initial place."""
    component = graph.rotations.components
    anchor = np.empty(graph.rotations.num_components, dtype=np.int64)
    anchor[component[held]] = np.flatnonzero(held)
    goal = np.zeros((len(anchor), 3))
    if graph.initial is not None:
        initial = graph.initial[anchor]
        goal = np.where(np.isnan(initial), 0.0, initial)
    root = poses[anchor]
    turn = (goal[:, 2] - root[:, 2])[component]
    position = rotate(turn, poses[:, :2] - root[component, :2]) + goal[component, :2]
    return np.column_stack([position, wrap(poses[:, 2] + turn)])


def _solution(
    graph: PoseGraph,
    poses: FloatArray,
    confidence: FloatArray,
    found: Selection,
    final: Optimum,
    solved: Solution | None,
    seconds: float,
) -> PoseSolution:
    iterations = found.iterations + final.iterations
    limit = reached_time_limit()
    converged = final.converged and found.converged and limit is None
    reason = "the accepted edges came to rest" if converged else "iteration limit"
    if limit is not None:
        reason = f"time limit of {limit:g} s: best of {iterations} steps"
    headings = Solution.from_angles(
        graph.rotations,
        poses[:, 2],
        edge_confidence=confidence,
        converged=converged,
        iterations=iterations,
        stop_reason=f"whole poses: {reason}",
        seconds=seconds,
    )
    if solved is not None:
        headings = replace(headings, node_confidence=solved.node_confidence)
    return PoseSolution(
        poses=poses,
        headings=headings,
        edge_confidence=np.where(graph.rotations.unchecked, np.nan, confidence),
        accepted=found.active,
        cost=final.cost,
        information_scale=(found.scale[0] ** -2, found.scale[1] ** -2),
        converged=converged,
        iterations=iterations,
        stop_reason=reason,
        seconds=seconds,
    )
