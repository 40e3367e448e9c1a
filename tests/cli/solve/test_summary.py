import numpy as np

import gnnsync
from gnnsync.cli.solve.summary import summary_text
from gnnsync.solution import ANGLE_FIGURES, summarize
from gnnsync.units import DEGREES, in_unit

REST = {"method": "auto", "trusted": 0, "seconds_read": 0.1}


def text_of(graph, solution, **changes):
    return summary_text(summarize(graph, solution) | REST | changes)


def test_a_tree_says_that_it_has_no_redundancy():
    graph = gnnsync.MeasurementGraph.from_edges("ab", "bc", [0.5, 2.0])
    text = text_of(graph, gnnsync.solve(graph))
    assert "no redundancy: 2 of 2 measurements are on no cycle" in text
    assert "unknown" in text
    assert "%" not in text


def test_one_triangle_states_nodes_as_it_does_edges():
    offset = np.deg2rad([30.0, 40.0, 72.0])
    graph = gnnsync.MeasurementGraph.from_edges("aba", "bcc", offset)
    solution = gnnsync.solve(graph)
    assert solution.edge_confidence.min() > 0.95
    assert solution.node_confidence.min() > 0.95
    assert "100.0% of the nodes" in text_of(graph, solution)


def test_few_cycles_on_a_long_path_say_that_too_little_is_checked():
    names = [str(i) for i in range(30)]
    graph = gnnsync.MeasurementGraph.from_edges(
        [*names[:-1], "0"], [*names[1:], "2"], [*np.full(29, 0.1), 0.2]
    )
    solution = gnnsync.solve(graph)
    assert np.isnan(solution.node_confidence).all()
    assert "unknown: too few measurements are checked" in text_of(graph, solution)


def test_bridges_are_counted_and_the_worst_edges_listed(make_multigraph):
    graph = make_multigraph(0, n=8, m=30, connected=True)
    edges = np.concatenate([graph.edge_index, [[0], [8]]], axis=1)
    offset = np.append(graph.offset, 0.0)
    offset[3] += 1.0
    graph = gnnsync.MeasurementGraph(edges, offset, 9)
    solution = gnnsync.solve(graph, "gnc")
    text = text_of(graph, solution)
    assert f"1 of {graph.num_edges} measurements are on no cycle" in text
    ends = f"{graph.src[3]} - {graph.dst[3]}"
    line = next(line for line in text.splitlines() if line.strip().startswith(ends))
    assert "residual -1 rad" in line
    turned = in_unit(summarize(graph, solution), DEGREES, ANGLE_FIGURES)
    degrees = summary_text(turned | REST)
    assert "residual -57.3°" in degrees


def test_a_second_set_of_angles_is_hinted_at():
    graph = gnnsync.MeasurementGraph.from_edges("abc", "bca", [0.5, 2.0, -2.5])
    found = {"explained": 0.94, "second": 0.4, "gain": 3.0}
    text = text_of(graph, gnnsync.solve(graph), second_set=found)
    assert "k = 2 explains 94% of the edges; try --k 2" in text
    assert "try --k 2" not in text_of(graph, gnnsync.solve(graph), second_set=None)


def test_angles_at_the_time_limit_are_the_best_so_far():
    graph = gnnsync.MeasurementGraph.from_edges("aba", "bcc", [0.5, 0.5, 1.0])
    solution = gnnsync.solve(graph, "gpm")
    stopped = {"converged": True, "stop_reason": "time limit of 0.01 s"}
    assert "best so far: time limit of 0.01 s" in text_of(graph, solution, **stopped)
    assert ", converged: " in text_of(graph, solution)
