import numpy as np
import pytest

import gnnsync
from gnnsync import MeasurementGraph, Solution
from gnnsync.angles import TWO_PI
from gnnsync.errors import ParameterError
from gnnsync.solution import ANGLE_FIGURES, summarize
from gnnsync.units import DEGREES, in_unit


def test_from_angles_with_the_truth(make_multigraph):
    graph = make_multigraph(0)
    solution = Solution.from_angles(graph, graph.angles[:, 0] + 10.0, iterations=3)
    assert solution.angles.shape == (graph.num_nodes, 1)
    assert solution.angles.min() >= 0
    assert solution.angles.max() < TWO_PI
    np.testing.assert_allclose(solution.edge_confidence, 1.0)
    np.testing.assert_array_equal(solution.edge_group, 0)
    np.testing.assert_array_equal(solution.component, graph.components)
    assert (solution.k, solution.iterations, solution.converged) == (1, 3, True)


def test_each_edge_belongs_to_the_set_that_explains_it(rng):
    angles = rng.uniform(0, TWO_PI, (10, 3))
    src, dst = np.triu_indices(10, 1)
    group = rng.integers(3, size=len(src))
    offset = angles[src, group] - angles[dst, group]
    graph = MeasurementGraph(np.stack([src, dst]), offset, 10, angles=angles, group=group)
    solution = Solution.from_angles(graph, angles + rng.uniform(0, TWO_PI, 3))
    np.testing.assert_array_equal(solution.edge_group, group)
    assert solution.k == 3


@pytest.mark.parametrize(("residual", "confidence"), [(0.0, 1.0), (np.pi / 2, 0.5), (np.pi, 0.0)])
def test_confidence_falls_with_the_residual(residual, confidence):
    # The second measurement of the pair checks the first.
    graph = MeasurementGraph([[0, 0], [1, 1]], [residual, 0.0], 2)
    solution = Solution.from_angles(graph, np.zeros(2))
    assert solution.edge_confidence[0] == pytest.approx(confidence, abs=1e-15)


def test_a_methods_own_confidence_is_kept_and_replace_changes_one_field(make_multigraph):
    graph = make_multigraph(0)
    own = np.linspace(0, 1, graph.num_edges)
    solution = Solution.from_angles(graph, graph.angles, edge_confidence=own)
    np.testing.assert_array_equal(solution.edge_confidence, own)
    later = solution.replace(seconds=1.5)
    assert (later.seconds, solution.seconds) == (1.5, 0.0)
    assert later.angles is solution.angles


def test_diagnostics_are_not_shared(make_multigraph):
    graph = make_multigraph(0)
    first, second = (Solution.from_angles(graph, graph.angles) for _ in range(2))
    first.diagnostics["residual"] = 1.0
    assert second.diagnostics == {}


def test_repr(make_multigraph):
    graph = make_multigraph(0)
    solution = Solution.from_angles(graph, graph.angles, converged=False, seconds=0.25)
    assert repr(solution) == "Solution(n=12, k=1, converged=False, iterations=0, seconds=0.25)"


def test_summary_of_a_disturbed_graph(make_multigraph):
    graph = make_multigraph(4, n=40, m=800, connected=True)
    offset = graph.offset.copy()
    wrong = np.random.default_rng(1).random(graph.num_edges) < 0.3
    offset[wrong] += np.random.default_rng(2).uniform(0, 2 * np.pi, wrong.sum())
    graph = graph.replace(offset=offset)
    solution = gnnsync.solve(graph, "spectral")
    summary = summarize(graph, solution)
    assert summary["outlier_share"] == pytest.approx(0.3, abs=0.06)
    assert summary["residual_quantiles"]["0.99"] > 1
    assert summary["edges"] == graph.num_edges
    assert summary["nodes_sure"] is None
    confidence = np.linspace(0, 1, graph.num_nodes)
    assert summarize(graph, solution.replace(node_confidence=confidence))["nodes_sure"] == 0.05


def test_another_graph_is_refused_in_one_line(make_multigraph):
    graph = make_multigraph(0)
    solution = Solution.from_angles(graph, graph.angles)
    turned = graph.replace(edge_index=graph.edge_index[::-1])
    assert solution.check_graph(graph.replace(offset=graph.offset + 1)) is not graph
    for other in (make_multigraph(1, n=15), graph.keep_edges([0, 1, 2, 3]), turned, "graph"):
        for call in (
            lambda other=other: solution.conflicts(3, other),
            lambda other=other: solution.residual(other),
            lambda other=other: solution.plot(other),
        ):
            with pytest.raises(ParameterError, match=r"graph = .*: must be .* 12 nodes") as caught:
                call()
            assert len(str(caught.value).splitlines()) == 1


def tree_with_loop(offset):
    """Nodes a, b, c in a loop, d beyond the edge c - d."""
    return MeasurementGraph.from_edges("abcc", "bcad", offset)


def test_what_no_cycle_checks_is_unknown_and_takes_no_part_in_the_figures():
    graph = tree_with_loop([0.5, 0.5, -0.9, 2.0])
    solution = Solution.from_angles(graph, np.array([1.0, 0.5, 0.0, 1.0]))
    assert np.isnan(solution.edge_confidence).tolist() == [False, False, False, True]
    summary = summarize(graph, solution)
    assert summary["edges_unchecked"] == 1
    assert summary["residual_quantiles"]["0.99"] < 0.2  # that of c - d would be 3
    trusted = graph.replace(trusted=np.array([False, False, False, True]))
    assert np.isfinite(Solution.from_angles(trusted, solution.angles).edge_confidence).all()


def test_a_tree_has_no_figures_of_noise():
    graph = MeasurementGraph.from_edges("ab", "bc", [0.5, 1.0])
    summary = summarize(graph, gnnsync.solve(graph))
    assert summary["edges_unchecked"] == 2
    assert summary["outlier_share"] is None
    assert summary["inlier_noise"] is None
    assert set(summary["residual_quantiles"].values()) == {None}
    assert (summary["nodes_sure"], summary["nodes_unknown"]) == (0.0, 1.0)


def test_worst_edges_and_the_unit_of_the_summary():
    graph = tree_with_loop([0.5, 0.5, -0.9, 2.0])
    solution = Solution.from_angles(graph, np.array([1.0, 0.5, 0.0, 1.0]))
    summary = summarize(graph, solution)
    first, second = summary["worst_edges"]
    assert (first["edge"], first["src"], first["dst"], first["confidence"]) == (3, "c", "d", None)
    assert second["residual"] == pytest.approx(-0.1)
    turned = in_unit(summary, DEGREES, ANGLE_FIGURES)
    assert turned["unit"] == "degrees"
    assert turned["worst_edges"][1]["residual"] == pytest.approx(np.degrees(-0.1))
    assert turned["inlier_noise"] == pytest.approx(np.degrees(summary["inlier_noise"]))
    assert turned["outlier_share"] == summary["outlier_share"]
