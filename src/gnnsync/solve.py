"""`solve` and `solve_poses`: from measurements to angles, or to poses, in one call."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# `import gnnsync` loads this module, for its name is that of the function: whatever needs NumPy,
# SciPy or torch is imported where it is used.
if TYPE_CHECKING:
    from gnnsync.io.tables.titles import Columns
    from gnnsync.methods import Method
    from gnnsync.pose_graph import PoseGraph, PoseSolution
    from gnnsync.solution import Solution
    from gnnsync.units import Unit

# Named here, so that their libraries are loaded only when asked for.
LEARNED = ("gnnsync", "gnnsync_plus", "gnnsync_inductive")


def solve(
    graph: Any,
    method: str | Method = "auto",
    k: int = 1,
    *,
    seed: int = 0,
    anchors: Any = None,
    start: Any = None,
    time_limit: float | None = None,
    columns: Columns | None = None,
    unit: str | Unit | None = None,
) -> Solution:
    """Estimate k sets of angles from measured offsets.

    Angles are known up to one rotation per connected component and group.

    Args:
        graph: the measurements: a `MeasurementGraph`, a file, a DataFrame, a NetworkX graph, a
            SciPy matrix or plain arrays, see `gnnsync.as_graph`.
        method: a name (`method_names` lists them) or a method object, such as
            `gnnsync.methods.GPM(refine=5)`.
        k: number of groups (sets of angles) that the measurements mix.
        seed: random seed.
        anchors: known angles, which the solution holds exactly: a dictionary {node: angle} (k
            angles for k > 1), an array (n, k) with NaN where an angle is unknown, or the name of
            a file with lines node,angle. In the unit of the offsets.
        start: an earlier `Solution`, whose nodes are found by name, or angles (n, k) in radians:
            the method begins with them (gpm, irls, transync, gnc, belief) or compares them with
            its own (auto, gnc_angles). Other methods refuse it.
        time_limit: seconds after which the method returns the best angles it has; its
            `stop_reason` says so.
        columns: titles of the columns of a table, where they are not known ones.
        unit: of the offsets, if `graph` is no `MeasurementGraph`: `radians`, `degrees` or `turns`.
            Angles of a solution are always in radians, and so are anchors with a graph.
    """
    from gnnsync.errors import ParameterError
    from gnnsync.io import as_graph
    from gnnsync.methods.warm_start import as_start, check_takes_start
    from gnnsync.pose_graph import PoseGraph
    from gnnsync.work import limited

    chosen = with_anchors(find_method(method), anchors, unit)
    check_time_limit(chosen, time_limit)
    if isinstance(graph, PoseGraph):
        raise ParameterError("graph", graph, "a MeasurementGraph; solve_poses takes a PoseGraph")
    measurements = as_graph(graph, columns=columns, unit=unit)
    given: dict[str, Any] = {}
    if start is not None:
        check_takes_start(chosen)
        given["start"] = as_start(measurements, k, start)
    with limited(time_limit):
        return chosen(measurements, k, seed=seed, **given)


def solve_poses(
    graph: PoseGraph | str | os.PathLike[str],
    method: str | Method = "auto",
    *,
    seed: int = 0,
    trust: str | None = None,
    time_limit: float | None = None,
) -> PoseSolution:
    """Estimate the poses (x, y, θ) of a 2D pose graph, with false loop closures left out.

    Closures are judged on the whole relative pose: one that fits in heading but not in position
    is rejected. With the method `auto`, a graph that its trusted measurements (the odometry)
    connect is solved from the poses along them; otherwise the method solves the headings first.
    Poses are known up to one rigid motion per connected component.

    Args:
        graph: the measurements, or the name of a `.g2o` file.
        method: a name (`method_names` lists them) or a method object, for the headings.
        seed: random seed.
        trust: `odometry` or `none`; by default odometry for a file, and the graph's own `trusted`
            measurements for a graph.
        time_limit: seconds after which the best poses so far are returned.
    """
    from gnnsync.errors import ParameterError
    from gnnsync.io import read_poses
    from gnnsync.io.graph_file import trust_edges
    from gnnsync.methods.poses import solve_pose_graph, trusted_connect
    from gnnsync.pose_graph import PoseGraph
    from gnnsync.work import limited

    chosen = find_method(method)
    check_time_limit(chosen, time_limit)
    if isinstance(graph, str | os.PathLike):
        graph = read_poses(graph, trust=trust)
    elif not isinstance(graph, PoseGraph):
        allowed = "a PoseGraph or the name of a .g2o file; solve takes a MeasurementGraph"
        raise ParameterError("graph", graph, allowed)
    elif trust is not None:
        graph = graph.replace(rotations=trust_edges(graph.rotations, trust))
    with limited(time_limit):
        if method == "auto" and trusted_connect(graph):
            return solve_pose_graph(graph, seed=seed)
        return solve_pose_graph(graph, lambda rotations: chosen(rotations, seed=seed), seed=seed)


def with_anchors(method: Method, anchors: Any, unit: str | Unit | None = None) -> Method:
    """The method with known angles held exactly; the method itself if `anchors` is None.

    Args:
        method: any method.
        anchors: see `solve`.
        unit: of the anchors, radians by default.
    """
    if anchors is None:
        return method
    from gnnsync.anchors import as_anchors
    from gnnsync.methods.anchoring.held import Anchored
    from gnnsync.units import RADIANS, find_unit

    given = RADIANS if unit is None else find_unit(unit)
    return Anchored(method, as_anchors(anchors, given), given)


def check_time_limit(method: Method, time_limit: float | None, name: str = "time_limit") -> None:
    """Refuse a time limit that is no positive number, or a method that cannot stop early.

    Args:
        method: the method that it is for.
        time_limit: seconds, or None.
        name: how the user calls it.
    """
    from gnnsync.errors import ParameterError, check_real

    if time_limit is None:
        return
    check_real(name, time_limit, 0, open_low=True)
    if not getattr(method, "stops_early", False):
        allowed = f"left out: {type(method).__name__} cannot stop early (`stops_early` is not set)"
        raise ParameterError(name, time_limit, allowed)


def method_names() -> list[str]:
    """Names that `solve` accepts: the classical methods and the learned ones."""
    from gnnsync.methods import METHODS

    return [*METHODS, *LEARNED]


def find_method(method: str | Method) -> Method:
    """The method of this name with its default parameters, or the method itself."""
    from gnnsync.errors import ParameterError
    from gnnsync.methods import METHODS

    if not isinstance(method, str):
        if not callable(method) or isinstance(method, type):
            raise ParameterError("method", method, "a method's name or a method object")
        return method
    if method in METHODS:
        return METHODS[method]()
    if method in LEARNED:
        from gnnsync import learn

        if method == "gnnsync_inductive":
            return learn.GNNSyncInductive()
        return learn.GNNSync() if method == "gnnsync" else learn.gnnsync_plus()
    raise ParameterError("method", method, "one of " + ", ".join(method_names()))
