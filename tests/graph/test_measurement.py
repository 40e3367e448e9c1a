import logging
from dataclasses import FrozenInstanceError

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from gnnsync import MeasurementGraph
from gnnsync.angles import TWO_PI
from gnnsync.errors import GnnsyncError, GraphError


def full_graph() -> MeasurementGraph:
    """Three nodes, three edges, every optional field present."""
    return MeasurementGraph(
        edge_index=np.array([[0, 1, 2], [1, 2, 0]]),
        offset=np.array([0.1, 0.2, 6.0]),
        num_nodes=3,
        weight=np.array([1.0, 2.0, 0.5]),
        angles=np.array([[0.3, 1.0], [0.2, 2.0], [0.0, 3.0]]),
        group=np.array([0, 1, -1]),
        node_names=("a", "b", ("c", 1)),
    )


def assert_same(a: MeasurementGraph, b: MeasurementGraph) -> None:
    for name in ("edge_index", "offset", "weight", "angles", "group"):
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            np.testing.assert_array_equal(left, right, err_msg=name)
            assert left.dtype == right.dtype
    assert (a.num_nodes, a.node_names) == (b.num_nodes, b.node_names)


# --- construction ------------------------------------------------------------------------------


def test_repr_shapes_and_dtypes():
    graph = full_graph()
    assert repr(graph) == (
        "MeasurementGraph(num_nodes=3, num_edges=3, weight, angles, group, node_names)"
    )
    bare = MeasurementGraph([[0], [1]], [0.5], 2)
    assert repr(bare) == "MeasurementGraph(num_nodes=2, num_edges=1)"
    assert (graph.edge_index.dtype, graph.offset.dtype) == (np.int64, np.float64)
    np.testing.assert_array_equal(graph.src, [0, 1, 2])
    np.testing.assert_array_equal(graph.dst, [1, 2, 0])
    np.testing.assert_array_equal(bare.edge_weight, [1.0])
    np.testing.assert_array_equal(graph.edge_weight, graph.weight)


def test_offsets_and_angles_are_reduced_and_a_vector_of_angles_is_one_set():
    graph = MeasurementGraph([[0, 1], [1, 0]], [-1.0, TWO_PI], 2, angles=[-0.5, 7.0])
    np.testing.assert_allclose(graph.offset, [TWO_PI - 1, 0])
    np.testing.assert_allclose(graph.angles, [[TWO_PI - 0.5], [7 - TWO_PI]])


def test_input_arrays_are_copied_and_everything_is_read_only():
    index, offset = np.array([[0, 1], [1, 2]]), np.array([0.1, 0.2])
    graph = MeasurementGraph(index, offset, 3)
    index[:], offset[:] = 0, 9.0
    np.testing.assert_array_equal(graph.edge_index, [[0, 1], [1, 2]])
    np.testing.assert_array_equal(graph.offset, [0.1, 0.2])
    with pytest.raises(FrozenInstanceError):
        graph.offset = offset
    full = full_graph()
    for name in ("edge_index", "offset", "weight", "angles", "group", "degree", "components"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(full, name)[...] = 0
    for array in (graph.edge_weight, full.triangles.edges, full.triangles.signs):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_nodes": 0}, "num_nodes = 0: must be a whole number, at least 1"),
        ({"num_nodes": True}, "num_nodes = True"),
        ({"num_nodes": "3"}, "num_nodes = '3'"),
        ({"num_nodes": float("nan")}, "num_nodes = nan"),
        ({"num_nodes": None}, "num_nodes = None"),
        ({"edge_index": [0, 1, 2]}, r"edge_index has shape \(3,\): must be \(2, m\)"),
        ({"edge_index": [[0, 1, 2]]}, r"edge_index has shape \(1, 3\)"),
        ({"edge_index": [[0, 1], [1]]}, "edge_index is ragged"),
        ({"edge_index": [[0, 1, 2], [1, 2, 0.5]]}, r"edge_index\[1, 2\] is 0.5: must be a whole"),
        ({"edge_index": [[0, 1, 2], [1, 2, np.nan]]}, r"edge_index\[1, 2\] is nan"),
        ({"edge_index": [["a"], ["b"]]}, "edge_index holds .*'a'"),
        (
            {"edge_index": [[0, 1, 2], [1, 2, 3]]},
            r"edge 2 joins nodes \(2, 3\): node numbers must be in 0..2",
        ),
        ({"edge_index": [[0, -1, 2], [1, 2, 0]]}, r"edge 1 joins nodes \(-1, 2\)"),
        ({"edge_index": [[0, 1, 2], [1, 1, 0]]}, "edge 1 is a self-loop at node 1: remove it"),
        ({"offset": [0.1, 0.2]}, r"offset has shape \(2,\): must be \(3,\)"),
        ({"offset": [0.1, np.nan, 0.2]}, r"offset\[1\] is nan: must be finite"),
        ({"offset": [0.1, 0.2, -np.inf]}, r"offset\[2\] is -inf: must be finite"),
        ({"offset": ["x", "y", "z"]}, "offset holds .*'x'.*must hold real numbers"),
        ({"offset": [1j, 0, 0]}, "offset holds complex128"),
        ({"weight": [1.0, 0.0, 1.0]}, r"weight of edge 1 \(.*\) is 0: must be greater than 0"),
        ({"weight": [1.0, 1.0, -2.0]}, r"weight of edge 2 \(.*\) is -2"),
        ({"weight": [np.nan, 1.0, 1.0]}, r"weight\[0\] is nan"),
        ({"weight": [1.0]}, r"weight has shape \(1,\): must be \(3,\)"),
        ({"angles": np.zeros((2, 2))}, r"angles has shape \(2, 2\): must be \(3, k\)"),
        ({"angles": np.zeros((3, 0)), "group": None}, r"angles has shape \(3, 0\)"),
        ({"angles": np.zeros((3, 2, 1))}, r"angles has shape \(3, 2, 1\)"),
        ({"angles": [[0, 1], [0, np.nan], [0, 1]]}, r"angles\[1, 1\] is nan: must be finite"),
        ({"angles": [[0], [1], [2, 3]]}, "angles is ragged"),
        ({"group": [0, 2, 0]}, r"group\[1\] is 2: must be -1 \(outlier\) or 0..1"),
        ({"group": [0, 0, -2]}, r"group\[2\] is -2"),
        ({"group": [0, 0, -2], "angles": None}, r"group\[2\] is -2: .* 0..k-1"),
        ({"group": [0, 0]}, r"group has shape \(2,\): must be \(3,\)"),
        ({"group": [0, 0.5, 0]}, r"group\[1\] is 0.5: must be a whole number"),
        ({"node_names": ["a", "b"]}, "node_names has 2 names: must have 3"),
        ({"node_names": ["a", "b", "a"]}, "node_names has 'a' twice"),
        ({"node_names": [["a"], "b", "c"]}, r"node name \['a'\] is not hashable"),
    ],
)
def test_validation_names_field_and_value(change, message):
    with pytest.raises(GnnsyncError, match=message):
        full_graph().replace(**change)


def test_replace_validates_and_leaves_the_original_alone():
    graph = full_graph()
    heavier = graph.replace(weight=[5.0, 5.0, 5.0])
    np.testing.assert_array_equal(heavier.degree, [10.0, 10.0, 10.0])
    np.testing.assert_array_equal(graph.degree, [1.5, 3.0, 2.5])


def test_parallel_edges_are_kept_and_said(caplog):
    with caplog.at_level(logging.INFO, logger="gnnsync.graph"):
        graph = MeasurementGraph([[0, 1, 0, 1], [1, 0, 1, 2]], [0.1, 0.2, 0.3, 0.4], 3)
    assert graph.num_edges == 4
    assert graph.num_parallel == 2
    assert "2 of 4 edges repeat a pair" in caplog.text


def test_a_graph_without_edges():
    graph = MeasurementGraph(np.empty((2, 0)), [], 3)
    assert (graph.num_edges, graph.num_components, len(graph.triangles)) == (0, 3, 0)
    np.testing.assert_array_equal(graph.degree, np.zeros(3))
    assert graph.hermitian.nnz == 0


# --- ways in and out ---------------------------------------------------------------------------


def test_from_edges_numbers_names_by_first_appearance():
    graph = MeasurementGraph.from_edges(
        ["x", (1, 2), None], [(1, 2), None, "x"], [0.1, 0.2, 0.3], weight=[1, 2, 3]
    )
    assert graph.node_names == ("x", (1, 2), None)
    np.testing.assert_array_equal(graph.edge_index, [[0, 1, 2], [1, 2, 0]])
    np.testing.assert_array_equal(graph.weight, [1.0, 2.0, 3.0])


def test_from_edges_follows_node_names_and_keeps_lone_nodes():
    names = np.array(["d", "c", "b", "a"])
    graph = MeasurementGraph.from_edges(
        iter("ab"), iter("bc"), [0.1, 0.2], node_names=names, angles=[0, 1, 2, 3], group=[0, -1]
    )
    np.testing.assert_array_equal(graph.edge_index, [[3, 2], [2, 1]])
    assert graph.node_names == ("d", "c", "b", "a")
    assert graph.num_nodes == 4
    np.testing.assert_array_equal(graph.angles[:, 0], [0, 1, 2, 3])


@pytest.mark.parametrize("kind", [np.array, torch.tensor, list])
def test_from_edges_takes_arrays_and_tensors_of_numbers(kind):
    graph = MeasurementGraph.from_edges(kind([5, 7, 9]), kind([7, 9, 5]), [0.1, 0.2, 0.3])
    assert graph.node_names == (5, 7, 9)
    np.testing.assert_array_equal(graph.edge_index, [[0, 1, 2], [1, 2, 0]])


def test_from_edges_errors():
    with pytest.raises(GraphError, match="src has 2 entries and dst 1"):
        MeasurementGraph.from_edges("ab", "c", [0.1, 0.2])
    with pytest.raises(GraphError, match="node 'z' is not among node_names"):
        MeasurementGraph.from_edges("ab", "bz", [0.1, 0.2], node_names="abc")
    with pytest.raises(GraphError, match="node_names has 'a' twice"):
        MeasurementGraph.from_edges("ab", "bc", [0.1, 0.2], node_names=["a", "b", "a", "c"])
    with pytest.raises(GraphError, match="is not hashable"):
        MeasurementGraph.from_edges([["a"]], [["b"]], [0.1])
    with pytest.raises(GnnsyncError, match="num_nodes = 0"):
        MeasurementGraph.from_edges([], [], [])


def test_from_adjacency_dense_zero_is_no_edge():
    matrix = np.zeros((3, 3))
    matrix[0, 1], matrix[2, 1], matrix[1, 2] = 0.5, 1.5, -1.0
    graph = MeasurementGraph.from_adjacency(matrix)
    entries = {(i, j): a for i, j, a in zip(graph.src, graph.dst, graph.offset, strict=True)}
    assert entries == {(0, 1): 0.5, (2, 1): 1.5, (1, 2): pytest.approx(TWO_PI - 1)}


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_from_adjacency_sparse_stored_zero_is_a_measurement(kind):
    stored = sp.coo_array(([0.0, 1.5], ([0, 2], [1, 1])), shape=(4, 4))
    graph = MeasurementGraph.from_adjacency(kind(stored), angles=np.zeros(4))
    entries = {(i, j): a for i, j, a in zip(graph.src, graph.dst, graph.offset, strict=True)}
    assert entries == {(0, 1): 0.0, (2, 1): 1.5}
    assert graph.num_nodes == 4
    assert graph.angles is not None


def test_from_adjacency_errors():
    for shape in [(2, 3), (4,)]:
        with pytest.raises(GraphError, match=r"adjacency has shape .*must be square"):
            MeasurementGraph.from_adjacency(np.ones(shape))
    with pytest.raises(GraphError, match="self-loop at node 0"):
        MeasurementGraph.from_adjacency(np.eye(2))
    with pytest.raises(GraphError, match="offset holds complex128"):
        MeasurementGraph.from_adjacency(full_graph().hermitian)


def test_pyg_round_trip():
    graph = full_graph()
    data = graph.to_pyg()
    assert data.edge_attr.dtype == torch.float64
    assert data.num_nodes == 3
    assert_same(MeasurementGraph.from_pyg(data), graph)
    bare = MeasurementGraph([[0], [1]], [0.5], num_nodes=4)
    assert_same(MeasurementGraph.from_pyg(bare.to_pyg()), bare)


def test_from_pyg_takes_a_column_of_offsets_and_asks_for_missing_ones():
    index = torch.tensor([[0, 1], [1, 2]])
    offset = torch.tensor([[0.5], [1.0]], requires_grad=True)
    graph = MeasurementGraph.from_pyg(Data(edge_index=index, edge_attr=offset, num_nodes=3))
    np.testing.assert_array_equal(graph.offset, [0.5, 1.0])
    with pytest.raises(GraphError, match="edge_attr is missing"):
        MeasurementGraph.from_pyg(Data(edge_index=index, num_nodes=3))


def test_networkx_round_trip():
    graph = full_graph()
    shown = graph.to_networkx()
    assert isinstance(shown, nx.MultiDiGraph)
    src, dst, attributes = zip(*shown.edges(data=True), strict=True)
    columns = {key: [a[key] for a in attributes] for key in ("offset", "weight", "group")}
    angles = [a for _, a in shown.nodes(data="angles")]
    back = MeasurementGraph.from_edges(
        src, dst, **columns, angles=angles, node_names=list(shown.nodes)
    )
    assert_same(back, graph)


def test_networkx_keeps_parallel_edges_and_lone_nodes():
    graph = MeasurementGraph([[0, 0, 1], [1, 1, 0]], [0.1, 0.2, 0.3], num_nodes=3)
    shown = graph.to_networkx()
    assert (shown.number_of_nodes(), shown.number_of_edges()) == (3, 3)
    assert sorted(a for _, _, a in shown.edges(data="offset")) == [0.1, 0.2, 0.3]


def test_subgraph_renumbers_in_the_order_asked_for():
    graph = full_graph()
    part, edges = graph.subgraph(np.array([2, 1]))
    np.testing.assert_array_equal(edges, [1])
    np.testing.assert_array_equal(part.edge_index, [[1], [0]])
    np.testing.assert_array_equal(part.angles, graph.angles[[2, 1]])
    assert part.node_names == (("c", 1), "b")
    assert (part.offset[0], part.weight[0], part.group[0]) == (0.2, 2.0, 1)
    everything, edges = graph.subgraph(np.arange(3))
    assert_same(everything, graph)
    np.testing.assert_array_equal(edges, np.arange(3))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [([0, 3], "nodes has 3: must be in 0..2"), ([-1], "nodes has -1"), ([1, 1], "distinct")],
)
def test_subgraph_errors(nodes, message):
    with pytest.raises(GraphError, match=message):
        full_graph().subgraph(nodes)


# --- derived -----------------------------------------------------------------------------------


def test_components_are_numbered_by_first_appearance():
    graph = MeasurementGraph([[5, 1, 6], [0, 3, 3]], np.zeros(3), num_nodes=7)
    np.testing.assert_array_equal(graph.components, [0, 1, 2, 1, 3, 0, 1])
    assert graph.num_components == 4
    assert not graph.is_connected


@pytest.mark.parametrize("seed", range(5))
def test_components_agree_with_networkx(make_multigraph, seed):
    graph = make_multigraph(seed, n=30, m=20)
    expected = {frozenset(c) for c in nx.weakly_connected_components(graph.to_networkx())}
    labels = graph.components
    assert {frozenset(np.flatnonzero(labels == c)) for c in range(labels.max() + 1)} == expected
    firsts = [int(np.argmax(labels == c)) for c in range(graph.num_components)]
    assert firsts == sorted(firsts)


def test_hundreds_of_parallel_edges_still_connect():
    graph = MeasurementGraph(np.array([[0], [1]]).repeat(256, axis=1), np.zeros(256), num_nodes=2)
    assert graph.is_connected


@pytest.mark.parametrize("weighted", [False, True])
def test_hermitian_of_exact_offsets_has_the_truth_as_eigenvector(make_multigraph, weighted):
    graph = make_multigraph(2, weighted=weighted)
    h = graph.hermitian
    assert h.format == "csr"
    assert abs(h - h.conj().T).max() < 1e-15
    phase = np.exp(1j * graph.angles[:, 0])
    np.testing.assert_allclose(h @ phase, graph.degree * phase, atol=1e-12)


def test_hermitian_entries_and_parallel_sums():
    graph = MeasurementGraph([[0, 1, 1], [1, 0, 2]], [0.4, 0.6, 1.0], 3, weight=[1.0, 2.0, 3.0])
    expected = np.zeros((3, 3), dtype=complex)
    expected[0, 1] = np.exp(0.4j) + 2 * np.exp(-0.6j)
    expected[1, 2] = 3 * np.exp(1j)
    expected += expected.conj().T
    np.testing.assert_allclose(graph.hermitian.toarray(), expected, atol=1e-15)
    np.testing.assert_allclose(
        graph.weighted_hermitian(np.array([0.0, 0.0, 1.0])).toarray()[1, 2], np.exp(1j)
    )


def test_reversing_an_edge_and_negating_its_offset_keeps_the_hermitian(make_multigraph, rng):
    graph = make_multigraph(3, weighted=True)
    turned = rng.random(graph.num_edges) < 0.5
    index = np.where(turned, graph.edge_index[::-1], graph.edge_index)
    other = graph.replace(edge_index=index, offset=np.where(turned, -1, 1) * graph.offset)
    assert abs(graph.hermitian - other.hermitian).max() < 1e-14
    np.testing.assert_allclose(graph.degree, other.degree)


def test_residual_shapes_and_values(make_multigraph):
    graph = make_multigraph(5)
    angles = graph.angles[:, 0] + 1.0
    assert np.abs(graph.residual(angles)).max() < 1e-12
    columns = np.stack([angles, np.zeros(graph.num_nodes)], axis=1)
    residual = graph.residual(columns)
    assert residual.shape == (graph.num_edges, 2)
    np.testing.assert_array_equal(residual[:, 0], graph.residual(angles))
    assert residual.min() >= -np.pi
    assert residual.max() < np.pi


def test_names_are_the_node_names_or_the_numbers(triangle_and_tail):
    assert list(triangle_and_tail.names) == [0, 1, 2, 3, 4]
    assert triangle_and_tail.replace(node_names=tuple("abcde")).names == tuple("abcde")


def test_trusted_edges() -> None:
    graph = MeasurementGraph([[0, 1, 2], [1, 2, 0]], np.zeros(3), 3, trusted=[1, 0, 1])
    assert graph.trusted is not None
    assert graph.trusted.dtype == bool
    assert graph.edge_trusted.tolist() == [True, False, True]
    assert graph.keep_edges(graph.edge_trusted).edge_index.tolist() == [[0, 2], [1, 0]]
    part, kept = graph.subgraph(np.array([0, 2]))
    assert part.edge_trusted.tolist() == [True]
    assert kept.tolist() == [2]
    assert MeasurementGraph.from_pyg(graph.to_pyg()).edge_trusted.tolist() == [True, False, True]
    assert next(iter(graph.to_networkx().edges(data=True)))[2]["trusted"] is True
    assert not MeasurementGraph([[0], [1]], [0.0], 2).edge_trusted.any()


@pytest.mark.parametrize(
    ("trusted", "message"),
    [
        ([2, 0], r"trusted\[0\] is 2.0: must be true or false"),
        ([True], r"trusted has shape \(1,\): must be \(2,\)"),
        ([np.nan, 0], "trusted"),
    ],
)
def test_bad_trusted_edges(trusted: list[float], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        MeasurementGraph([[0, 1], [1, 2]], [0.0, 0.0], 3, trusted=trusted)


def test_bridges_are_the_edges_on_no_cycle():
    graph = MeasurementGraph.from_edges("abccd", "bcade", np.zeros(5))
    assert graph.bridges.tolist() == [False, False, False, True, True]
    trusted = graph.replace(trusted=np.array([False, False, False, True, False]))
    assert trusted.unchecked.tolist() == [False, False, False, False, True]
    parallel = MeasurementGraph.from_edges("ab", "ba", [0.1, -0.1])
    assert not parallel.bridges.any()
