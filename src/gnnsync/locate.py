"""`locate`: from measured distances to points of the plane, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# As in `gnnsync.solve`: `import gnnsync` loads this module, and whatever needs NumPy or SciPy is
# imported where it is used.
if TYPE_CHECKING:
    from gnnsync.io.tables.titles import Columns
    from gnnsync.localization.pipeline import Localization
    from gnnsync.methods import Method
    from gnnsync.positions import Positions


def locate(
    distances: Any,
    anchors: Any = None,
    method: str | Method = "auto",
    *,
    seed: int = 0,
    time_limit: float | None = None,
    columns: Columns | None = None,
    localization: Localization | None = None,
) -> Positions:
    """Estimate points of the plane from measured distances, some of which may be grossly wrong.

    Near points are placed in patches; reflections, rotations and translations of the patches are
    synchronized; a last refinement fits all points to all distances, with little weight for those
    that the others contradict. Points are known up to one motion and reflection of each connected
    component, unless it has three or more anchors; `Positions.localizable` marks those that the
    distances determine.

    Args:
        distances: a `DistanceNetwork`, a file with lines `i,j,distance[,sigma]`, a DataFrame, a
            SciPy sparse matrix or plain arrays, see `gnnsync.as_distances`.
        anchors: known positions: a dictionary {name: (x, y)}, a file with lines `name,x,y`, a
            DataFrame or an array (a, 3).
        method: for the rotations of the patches: a name (`gnnsync.solve.method_names` lists them)
            or a method object.
        seed: random seed.
        time_limit: seconds after which the best points so far are returned; `stop_reason` says so.
        columns: titles of the columns of a table, where they are not known ones.
        localization: the steps of the pipeline; by default `Localization()`.
    """
    from dataclasses import replace

    from gnnsync.io.distances.distance_file import as_distances
    from gnnsync.localization.pipeline import Localization
    from gnnsync.solve import check_time_limit, find_method
    from gnnsync.work import limited

    chosen = find_method(method)
    check_time_limit(chosen, time_limit)
    network = as_distances(distances, anchors, columns=columns)
    steps = Localization() if localization is None else localization
    with limited(time_limit):
        return replace(steps, rotations=chosen)(network, seed=seed)
