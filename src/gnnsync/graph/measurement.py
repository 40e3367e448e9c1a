"""MeasurementGraph: measured offsets between pairs of nodes, as an edge list."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gnnsync.angles import reduce_angle, wrap
from gnnsync.errors import (
    GraphError,
    check_array,
    check_flags,
    check_integer,
    check_names,
    check_whole_array,
)
from gnnsync.graph.conversion import EDGE_FIELDS, as_networkx, as_pyg, fields_of_pyg, stored_entries
from gnnsync.graph.joining import joined_fields, listed_names
from gnnsync.graph.weights import check_weights
from gnnsync.topology import (
    Triangles,
    component_labels,
    distinct,
    find_triangles,
    numbered_by_appearance,
)
from gnnsync.topology import bridges as find_bridges
from gnnsync.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import networkx
    from torch_geometric.data import Data

log = logging.getLogger(__name__)

# Pairs of nodes are numbered by 64 bits.
_MOST_NODES = 2**31 - 1


@dataclass(frozen=True, eq=False)
class MeasurementGraph:
    """n nodes with unknown angles and m measured offsets between them.

    Edge e measures theta[src] - theta[dst] ≈ offset[e] mod 2π, where (src, dst) is column e of
    `edge_index`. Immutable: the arrays are copied and made read-only.

    Args:
        edge_index: (2, m) node numbers, source above destination.
        offset: (m,) in radians; reduced to [0, 2π).
        num_nodes: number of nodes n.
        weight: (m,) positive and finite, proportional to the precision of each measurement; all
            equal if not given. Weights beyond 2^±100 are all divided by one power of two.
        trusted: (m,) measurements known to be inliers, such as odometry; none if not given.
        angles: (n, k) true angles, if known.
        group: (m,) the true group (set of angles) of each edge, 0..k-1, or -1 for an outlier.
        node_names: n distinct names; the node numbers if not given.
    """

    edge_index: IntArray
    offset: FloatArray
    num_nodes: int
    weight: FloatArray | None = None
    trusted: BoolArray | None = None
    angles: FloatArray | None = None
    group: IntArray | None = None
    node_names: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        n = check_integer("num_nodes", self.num_nodes, 1, _MOST_NODES)
        object.__setattr__(self, "num_nodes", n)
        self._set("edge_index", check_whole_array("edge_index", self.edge_index))
        if self.edge_index.ndim != 2 or len(self.edge_index) != 2:
            raise GraphError(f"edge_index has shape {self.edge_index.shape}: must be (2, m)")
        m = self.num_edges
        self._set("offset", reduce_angle(check_array("offset", self.offset, (m,))))
        self._check_edges()
        if self.trusted is not None:
            self._set("trusted", check_flags("trusted", self.trusted, m))
        if self.angles is not None:
            angles = check_array("angles", self.angles)
            angles = angles[:, None] if angles.ndim == 1 else angles
            if angles.ndim != 2 or len(angles) != n or not angles.shape[1]:
                raise GraphError(f"angles has shape {angles.shape}: must be ({n}, k)")
            self._set("angles", reduce_angle(angles))
        if self.group is not None:
            group = check_whole_array("group", self.group)
            if group.shape != (m,):
                raise GraphError(f"group has shape {group.shape}: must be ({m},)")
            k = None if self.angles is None else self.angles.shape[1]
            bad = (group < -1) | (group >= (np.inf if k is None else k))
            if bad.any():
                e, most = int(np.argmax(bad)), "k-1" if k is None else k - 1
                raise GraphError(f"group[{e}] is {group[e]}: must be -1 (outlier) or 0..{most}")
            self._set("group", group)
        if self.node_names is not None:
            names = check_names(self.node_names)
            if len(names) != n:
                raise GraphError(f"node_names has {len(names)} names: must have {n}")
            object.__setattr__(self, "node_names", names)
        if self.weight is not None:
            self._set("weight", check_weights(self.weight, m, self._edge_name))

    def _edge_name(self, e: int) -> str:
        i, j = self.edge_index[:, e].tolist()
        return f"edge {e} ({self.names[i]} - {self.names[j]})"

    def _set(self, name: str, value: NDArray[Any]) -> None:
        object.__setattr__(self, name, _read_only(np.array(value, order="C")))

    def _check_edges(self) -> None:
        if not self.num_edges:
            return
        if self.edge_index.min() < 0 or self.edge_index.max() >= self.num_nodes:
            e = int(np.argmax(((self.edge_index < 0) | (self.edge_index >= self.num_nodes)).any(0)))
            raise GraphError(
                f"edge {e} joins nodes {tuple(self.edge_index[:, e].tolist())}: "
                f"node numbers must be in 0..{self.num_nodes - 1}"
            )
        loops = self.src == self.dst
        if loops.any():
            e = int(np.argmax(loops))
            raise GraphError(f"edge {e} is a self-loop at node {self.src[e]}: remove it")
        if self.num_parallel:
            repeated, m = self.num_parallel, self.num_edges
            log.info("%d of %d edges repeat a pair of nodes; each is kept", repeated, m)

    # --- construction ------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        src: Iterable[Hashable],
        dst: Iterable[Hashable],
        offset: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        trusted: ArrayLike | None = None,
        node_names: Sequence[Hashable] | None = None,
        angles: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> MeasurementGraph:
        """Build from node names of any hashable kind.

        Nodes are numbered in the order of `node_names` if given, else by first appearance.
        """
        sources, targets = listed_names(src), listed_names(dst)
        if len(sources) != len(targets):
            raise GraphError(f"src has {len(sources)} entries and dst {len(targets)}: must agree")
        if node_names is None:
            ends = (name for pair in zip(sources, targets, strict=True) for name in pair)
            number = {name: i for i, name in enumerate(check_names(ends, repeats=True))}
        else:
            number = {name: i for i, name in enumerate(check_names(listed_names(node_names)))}
        try:
            index = [[number[name] for name in side] for side in (sources, targets)]
        except KeyError as error:
            raise GraphError(f"node {error.args[0]!r} is not among node_names") from None
        return cls(
            edge_index=np.array(index, dtype=np.int64).reshape(2, -1),
            offset=offset,  # type: ignore[arg-type]
            num_nodes=len(number),
            weight=weight,  # type: ignore[arg-type]
            trusted=trusted,  # type: ignore[arg-type]
            angles=angles,  # type: ignore[arg-type]
            group=group,  # type: ignore[arg-type]
            node_names=tuple(number),
        )

    @classmethod
    def from_adjacency(cls, matrix: Any, **options: Any) -> MeasurementGraph:
        """Build from an n × n array or scipy sparse matrix of offsets.

        In a dense array a zero means "no edge"; in a sparse one a *stored* zero is a measurement.
        Entries (i, j) and (j, i) are two measurements if both are present.
        """
        matrix = matrix if sp.issparse(matrix) else sp.coo_array(np.asarray(matrix))
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"adjacency has shape {matrix.shape}: must be square")
        coo = stored_entries(matrix)
        index = np.stack([coo.row, coo.col]).astype(np.int64)
        return cls(index, coo.data, matrix.shape[0], **options)

    @classmethod
    def from_pyg(cls, data: Data, offset: str = "edge_attr") -> MeasurementGraph:
        """Build from a PyTorch Geometric `Data` as written by `to_pyg`.

        `offset` names the attribute that holds the offsets, (m,) or (m, 1) in radians. A `Batch` of
        several graphs becomes one graph with several components.
        """
        return cls(**fields_of_pyg(data, offset))

    # --- conversion --------------------------------------------------------------------------

    def to_pyg(self) -> Data:
        """A PyTorch Geometric `Data`: edge_attr = offsets, y = true angles, float64."""
        return as_pyg(self)

    def to_networkx(self) -> networkx.MultiDiGraph:
        """A directed multigraph on the node names; all fields of an edge are its attributes."""
        return as_networkx(self)

    def replace(self, **changes: Any) -> MeasurementGraph:
        """A copy with some fields changed, validated again."""
        return replace(self, **changes)

    def subgraph(self, nodes: IntArray) -> tuple[MeasurementGraph, IntArray]:
        """The subgraph induced by `nodes`, numbered in that order, and the numbers of its edges."""
        nodes = check_whole_array("nodes", nodes)
        outside = nodes[(nodes < 0) | (nodes >= self.num_nodes)]
        if len(outside):
            raise GraphError(f"nodes has {outside[0]}: must be in 0..{self.num_nodes - 1}")
        if len(distinct(nodes)) < len(nodes):
            raise GraphError(f"nodes has {len(nodes)} entries, some twice: must be distinct")
        position = np.full(self.num_nodes, -1)
        position[nodes] = np.arange(len(nodes))
        index = position[self.edge_index]
        kept = np.flatnonzero((index >= 0).all(axis=0))
        names = self.node_names
        part = MeasurementGraph(
            edge_index=index[:, kept],
            offset=self.offset[kept],
            num_nodes=len(nodes),
            angles=None if self.angles is None else self.angles[nodes],
            node_names=None if names is None else tuple(names[i] for i in nodes),
            **self._edge_fields(kept),
        )
        return part, kept

    def keep_edges(self, kept: IntArray | BoolArray) -> MeasurementGraph:
        """The graph on all its nodes with these edges only, by number or by mask."""
        fields = self._edge_fields(kept) | {"offset": self.offset[kept]}
        return replace(self, edge_index=self.edge_index[:, kept], **fields)

    def with_edges(self, src: Any, dst: Any, offset: ArrayLike, **fields: Any) -> MeasurementGraph:
        """The graph with further measurements at its end, by names of nodes, which may be new.

        `fields` are `weight` and `trusted` of these; see `gnnsync.graph.joining.joined_fields`.
        """
        more = MeasurementGraph.from_edges(src, dst, offset, **fields)
        return MeasurementGraph(**joined_fields(self, more))

    def _edge_fields(self, kept: IntArray | BoolArray) -> dict[str, Any]:
        """The optional fields of some edges."""
        present = [name for name in EDGE_FIELDS if getattr(self, name) is not None]
        return {name: getattr(self, name)[kept] for name in present}

    # --- derived quantities ------------------------------------------------------------------

    @property
    def num_edges(self) -> int:
        """Number m of measurements."""
        return self.edge_index.shape[1]

    @property
    def src(self) -> IntArray:
        """Source nodes (m,)."""
        return self.edge_index[0]

    @property
    def dst(self) -> IntArray:
        """Destination nodes (m,)."""
        return self.edge_index[1]

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the n nodes: `node_names`, or the node numbers if there are none."""
        return self.node_names or range(self.num_nodes)

    @cached_property
    def edge_weight(self) -> FloatArray:
        """Weights (m,): `weight`, or ones if there are none."""
        return _read_only(np.ones(self.num_edges)) if self.weight is None else self.weight

    @property
    def edge_trusted(self) -> BoolArray:
        """Whether each edge (m,) is trusted: `trusted`, or all False if it is not given."""
        return np.zeros(self.num_edges, bool) if self.trusted is None else self.trusted

    @cached_property
    def num_parallel(self) -> int:
        """Number of edges whose pair of nodes an earlier edge joins, in either direction."""
        key = self.edge_index.min(axis=0) * self.num_nodes + self.edge_index.max(axis=0)
        return self.num_edges - len(distinct(key))

    @cached_property
    def triangles(self) -> Triangles:
        """Every triangle once, as three edge numbers with signs."""
        return find_triangles(self.edge_index, self.num_nodes)

    @cached_property
    def bridges(self) -> BoolArray:
        """Whether each edge (m,) is on no cycle, so that no other measurement checks it.

        Parallel edges check each other.
        """
        return _read_only(find_bridges(self.edge_index, self.num_nodes))

    @property
    def unchecked(self) -> BoolArray:
        """Whether each edge (m,) is on no cycle and is not trusted either."""
        return self.bridges if self.trusted is None else self.bridges & ~self.trusted

    @cached_property
    def components(self) -> IntArray:
        """Connected component (n,) of each node, numbered by first appearance."""
        labels = component_labels(self.edge_index, self.num_nodes)
        return _read_only(numbered_by_appearance(labels))

    @property
    def num_components(self) -> int:
        """Number of connected components, isolated nodes included."""
        return int(self.components.max()) + 1

    @property
    def is_connected(self) -> bool:
        """Whether the graph has one connected component."""
        return self.num_components == 1

    @cached_property
    def degree(self) -> FloatArray:
        """Weighted degree (n,): sum of the weights of the edges at each node."""
        both = np.concatenate([self.edge_weight, self.edge_weight])
        total = np.bincount(self.edge_index.ravel(), weights=both, minlength=self.num_nodes)
        return _read_only(total.astype(np.float64))

    @cached_property
    def hermitian(self) -> sp.csr_array:
        """H (n, n) with H[src, dst] = w·exp(i·offset) and its conjugate at [dst, src].

        Parallel edges are summed. With exact offsets H exp(iθ) = degree · exp(iθ).
        """
        return self.weighted_hermitian(self.edge_weight)

    def weighted_hermitian(self, weight: FloatArray) -> sp.csr_array:
        """The matrix `hermitian` with other edge weights (m,)."""
        value = weight * np.exp(1j * self.offset)
        row = np.concatenate([self.src, self.dst])
        col = np.concatenate([self.dst, self.src])
        data = np.concatenate([value, value.conj()])
        return sp.coo_array((data, (row, col)), shape=(self.num_nodes,) * 2).tocsr()

    def residual(self, angles: FloatArray) -> FloatArray:
        """wrap(r[src] - r[dst] - offset) in [-π, π), of shape (m,) or (m, k) like `angles`."""
        offset = self.offset if angles.ndim == 1 else self.offset[:, None]
        return wrap(angles[self.src] - angles[self.dst] - offset)

    def __repr__(self) -> str:
        present = [f.name for f in fields(self)[3:] if getattr(self, f.name) is not None]
        extra = f", {', '.join(present)}" if present else ""
        return f"MeasurementGraph(num_nodes={self.num_nodes}, num_edges={self.num_edges}{extra})"


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
