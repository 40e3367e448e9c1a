import numpy as np
import pytest

import gnnsync
from gnnsync import MeasurementGraph, Solution
from gnnsync.errors import GraphError, ParameterError
from gnnsync.solution.table import edge_table, node_table


@pytest.fixture
def solved():
    graph = MeasurementGraph.from_edges(["a", "b", 3], ["b", 3, "a"], [0.5, 1.0, -1.5])
    return Solution.from_angles(
        graph, np.array([1.5, 1.0, 0.0]), node_confidence=np.array([1.0, np.nan, 0.5])
    )


def test_frames_have_the_columns_of_the_files(solved):
    nodes = solved.to_dataframe()
    assert list(nodes) == ["node", "angle", "component", "confidence"]
    assert nodes["node"].tolist() == ["a", "b", 3]
    assert nodes["angle"].tolist() == [1.5, 1.0, 0.0]
    assert nodes["confidence"].isna().tolist() == [False, True, False]
    edges = solved.to_dataframe("edges", unit="degrees")
    assert list(edges) == ["src", "dst", "offset", "residual", "confidence", "group"]
    assert edges["offset"].to_numpy() == pytest.approx(np.degrees([0.5, 1.0, 2 * np.pi - 1.5]))
    assert np.abs(edges["residual"]).max() < 1e-12


def test_several_groups_have_a_column_each(solved):
    several = Solution.from_angles(solved.graph, np.zeros((3, 2)))
    several = several.replace(node_deviation=np.ones((3, 2)))
    titles = ["node", "angle_1", "angle_2", "component", "deviation_1", "deviation_2"]
    assert list(node_table(several.graph, several)) == titles
    assert edge_table(several.graph, several)["group"].tolist() == [0, 0, 0]


def test_a_solved_frame_round_trip(make_multigraph):
    graph = make_multigraph(0, connected=True)
    solution = gnnsync.solve(graph, "gpm")
    again = gnnsync.solve(solution.to_dataframe("edges").drop(columns="group"), "gpm")
    assert np.array_equal(again.angles, solution.angles)


def test_what_cannot_be_made_is_refused(solved):
    with pytest.raises(ParameterError, match="table = 'nods': must be one of nodes, edges"):
        solved.to_dataframe("nods")
    with pytest.raises(GraphError, match="the solution has no graph"):
        solved.replace(graph=None).to_dataframe()
