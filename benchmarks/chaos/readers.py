"""All readers of files of the package, with right files to damage."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from pyarrow import parquet
from scipy.io import savemat

from benchmarks.chaos.job_files import (
    CONFIG,
    failure,
    job_file,
    jobs,
    result,
    shipped_weights,
    solutions,
    weights,
)
from benchmarks.chaos.mutations import (
    compressed,
    damage_archive,
    damage_array,
    damage_bytes,
    damage_text,
)
from gnnsync import MeasurementGraph, read, read_poses
from gnnsync.anchors import FileAnchors
from gnnsync.io import read_points
from gnnsync.io.distances.anchor_table import with_anchors
from gnnsync.io.distances.distance_file import as_distances, read_distances
from gnnsync.io.nodes.coordinates import read_coordinates
from gnnsync.io.tables.titles import parse_columns

Damage = Callable[[bytes, Random], bytes]


@dataclass(frozen=True)
class Reader:
    """One way to read a file.

    Args:
        ending: of the file.
        use: reads the file, and asks for what follows at once.
        seeds: right files.
        damage: how they are changed.
        share: of the cases, relative to others.
    """

    ending: str
    use: Callable[[Path], Any]
    seeds: tuple[bytes, ...]
    damage: Damage
    share: float = 1.0


def readers() -> dict[str, Reader]:
    """Every reader by name."""
    text, tabs = tuple(_tables(",")), tuple(_tables("\t"))
    packed = tuple(gzip.compress(seed, mtime=0) for seed in text)
    nodes = (b"node,angle\n0,0.5\n1,1.5\n# note\n2,-1\n", b"0 0.5\n4 1e-3\n", b"1;0,5\n")
    return {
        "csv": Reader("csv", _graph, text, damage_text, 3),
        "tsv": Reader("tsv", _graph, tabs, damage_text),
        "txt": Reader("txt", _graph, tuple(_tables(" ")), damage_text),
        "csv, columns": Reader("csv", _named, (_NAMED,), damage_text),
        "csv, encodings": Reader("csv", _graph, tuple(_encoded(text)), damage_bytes),
        "csv.gz": Reader("csv.gz", _graph, packed, compressed(damage_text)),
        "mtx": Reader("mtx", _graph, _MATRICES, damage_text),
        "g2o": Reader("g2o", _graph, _POSES, damage_text),
        "g2o, poses": Reader("g2o", read_poses, _POSES, damage_text),
        "npz": Reader("npz", _graph, tuple(_archives()), damage_archive, 3),
        "npz, sparse": Reader("npz", _graph, tuple(_sparse()), damage_archive, 3),
        "npy, matrix": Reader("npz", _graph, (_npy(np.eye(4)[::-1]),), damage_array),
        "parquet": Reader("parquet", _graph, tuple(_parquet()), damage_bytes, 3),
        "anchors": Reader("csv", lambda path: FileAnchors(path)(_RING, 1), nodes, damage_text),
        "coordinates": Reader(
            "csv", lambda path: read_coordinates(path, _RING), _PLACES, damage_text
        ),
        "points.csv": Reader("csv", read_points, (b"x,y\n1,2\n3,4\n5,6e0\n",), damage_text),
        "points.npy": Reader(
            "npy", read_points, (_npy(np.arange(8.0).reshape(4, 2)),), damage_array
        ),
        "distances": Reader("csv", read_distances, _DISTANCES, damage_text),
        "distances, parquet": Reader(
            "parquet", read_distances, (_table(_DISTANCE_COLUMNS),), damage_bytes
        ),
        "distances, anchors": Reader("csv", _anchored, _PLACES, damage_text),
        "result.json": Reader("json", job_file("result.json"), (result(),), damage_text),
        "failure.json": Reader("json", job_file("failure.json"), (failure(),), damage_text),
        "jobs.json": Reader("json", job_file("jobs.json"), (jobs(),), damage_text),
        "config.yaml": Reader("yaml", job_file("config.yaml"), (CONFIG,), damage_text, 0.5),
        "solutions.npz": Reader("npz", solutions, tuple(_losses()), damage_archive),
        "weights": Reader("safetensors", weights, (shipped_weights(),), damage_bytes),
        # A process for each: slower by a factor of 100.
        "points.mat": Reader("mat", read_points, tuple(_mat()), damage_bytes, 0.3),
    }


def _graph(path: Path) -> None:
    _check(read(path))


def _named(path: Path) -> None:
    head = path.read_bytes()[:200].split(b"\n")[0].decode("utf-8", "replace")
    titles = head.split(",")
    columns = parse_columns(",".join(f"{c}={t}" for c, t in zip(_COLUMNS, titles, strict=False)))
    _check(read(path, columns=columns))


def _anchored(path: Path) -> None:
    with_anchors(_TRIANGLE, path)


def _check(graph: MeasurementGraph) -> None:
    """What a reader promises of a graph, as far as it is no work."""
    assert np.isfinite(graph.offset).all()
    assert graph.edge_index.max() < graph.num_nodes
    assert graph.num_components >= 1
    assert len(graph.names) == graph.num_nodes


_COLUMNS = ("src", "dst", "offset")
_NAMED = b"left,right,turn\na,b,0.5\nb,c,1.5\nc,a,2\n"
_RING = MeasurementGraph(np.array([range(5), [1, 2, 3, 4, 0]]), np.arange(5.0), 5)
_PLACES = (b"node,x,y\n0,0.5,1\n1,1.5,2\n3,4,5\n", b"0\t0.5\t1\n4\t1e-3\t2\n")
_DISTANCES = (
    b"i,j,distance,sigma\na,b,1.5,0.1\nb,c,2,0.1\nc,a,1e0,2\n",
    b"0 1 1.5\n1 2 2\n2 0 1.25\n1 0 1.6\n",
)
_DISTANCE_COLUMNS = {"i": ["a", "b", "c"], "j": ["b", "c", "a"], "distance": [1.5, 2.0, 1.0]}
_TRIANGLE = as_distances(([0, 1, 3, 4], [1, 3, 0, 0], [1.0, 2.0, 1.5, 1.0]))
_MATRICES = (
    b"%%MatrixMarket matrix coordinate real general\n% note\n4 4 3\n1 2 0.5\n2 3 1\n3 4 -2\n",
    b"%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 1\n3 1 2\n",
)
_POSES = (
    b"VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0.1\nVERTEX_SE2 2 2 0 0.2\nFIX 0\n"
    b"EDGE_SE2 0 1 1 0 0.1 1 0 0 1 0 2\nEDGE_SE2 1 2 1 0 0.1 1 0.1 0 1 0 2\n"
    b"EDGE_SE2 2 0 -2 0 -0.2 1 0 0 1 0 2\n",
    b"# note\nVERTEX_XY 9 1 2\nEDGE_SE2_XY 3 9 1 2 1 0 1\nEDGE_SE2 3 4 0 0 3 1 0 0 1 0 1\n",
)


def _tables(mark: str) -> list[bytes]:
    texts = [
        "src,dst,offset\na,b,0.5\nb,c,1.5\nc,a,-2e0\n",
        "0,1,0.5,1\n1,2,1.5,2\n2,0,4,0.5\n",
        "# src,dst,offset\n\"a b\",'=c,0.25\n'=c,d,1\n",
        "i,j,theta,weight,group,trusted\n7,8,1,1,0,1\n8,9,2,2,-1,0\n9,7,3,1e3,0,yes\n",
    ]
    return [text.replace(",", mark).encode() for text in texts]


def _encoded(texts: tuple[bytes, ...]) -> list[bytes]:
    names = ("utf-8-sig", "utf-16", "utf-32", "utf-16-be")
    return [text.decode().encode(name) for text in texts for name in names]


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _archives() -> list[bytes]:
    index, offset = np.array([[0, 1, 2, 3], [1, 2, 3, 0]]), np.array([0.5, 1, 2, 3])
    return [
        _npz(edge_index=index, offset=offset, num_nodes=np.int64(4)),
        _npz(
            edge_index=index,
            offset=offset,
            num_nodes=np.int64(4),
            weight=np.ones(4),
            trusted=np.array([True, False, True, False]),
            angles=np.ones((4, 1)),
            group=np.zeros(4, dtype=np.int64),
            node_names=np.array(["a", "b", "=c", "d"]),
        ),
        _npz(edge_index=index.astype(float), offset=offset.astype(np.float32)),
        _npz(matrix=np.eye(4)[::-1].copy()),
    ]


def _sparse() -> list[bytes]:
    matrix = sp.coo_array((np.arange(1.0, 7.0), ([0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 0, 1])), (5, 5))
    found = []
    for kind in ("coo", "csr", "csc"):
        file = io.BytesIO()
        sp.save_npz(file, matrix.asformat(kind))
        found.append(file.getvalue())
    return found


def _parquet() -> list[bytes]:
    text = {"src": ["a", "b", "c"] * 5, "dst": ["b", "c", "a"] * 5, "offset": [0.5, 1.5, 2.5] * 5}
    numbers = {"src": [0, 1, 2] * 5, "dst": [1, 2, 0] * 5, "offset": [0.5, 1.5, 2.5] * 5}
    more = {"weight": [1.0, 2.0, None] * 5, "trusted": [True, False, None] * 5}
    found = []
    for columns, options in (
        (text, {"compression": "none"}),
        (text, {"compression": "snappy", "use_dictionary": False}),
        (numbers, {"compression": "gzip", "row_group_size": 4}),
        (numbers | more, {"compression": "none", "data_page_version": "2.0"}),
        (text | {"note": [[1, 2], None, []] * 5}, {"compression": "zstd"}),
    ):
        found.append(_table(columns, **options))
    return found


def _table(columns: dict[str, Any], **options: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file, **options)
    return file.getvalue()


def _losses() -> list[bytes]:
    losses = np.linspace(2, 1, 12).reshape(6, 2)
    return [_npz(loss_train=losses, loss_evaluation=losses, angles=np.ones((2, 4, 1)))]


def _mat() -> list[bytes]:
    found = []
    for options in ({}, {"do_compression": True}, {"format": "4"}):
        file = io.BytesIO()
        savemat(file, {"points": np.arange(12.0).reshape(6, 2)}, **options)
        found.append(file.getvalue())
    return found
