import pytest

from gnnsync import MeasurementGraph
from gnnsync.cli.solve.command import main
from gnnsync.cli.solve.explain import find_edge
from gnnsync.errors import ParameterError

NAMES = ["a", "Zürich, West", "c"]
GRAPH = MeasurementGraph.from_edges(NAMES, [*NAMES[1:], "a"], [0.1, 0.2, -0.3])


@pytest.mark.parametrize(
    ("text", "edge"), [("1", 1), ("a,c", 2), ("c, a", 2), ("Zürich, West,c", 1)]
)
def test_an_edge_is_named_by_number_or_nodes(text, edge):
    assert find_edge(GRAPH, text) == edge


@pytest.mark.parametrize(
    ("text", "problem"),
    [("3", "from 0 to 2"), ("a,x", "node names"), ("a", "node names"), ("a,a", "an edge joins")],
)
def test_what_is_no_edge_is_refused(text, problem):
    with pytest.raises(ParameterError, match=problem):
        find_edge(GRAPH, text)


def test_parallel_edges_are_named_by_number():
    graph = MeasurementGraph([[0, 1, 1, 0], [1, 2, 0, 2]], [0.1, 0.2, 0.3, 0.4], 3)
    with pytest.raises(ParameterError, match="--explain = '1,0': must be one of the numbers 0, 2"):
        find_edge(graph, "1,0")
    assert find_edge(graph, "2") == 2


def test_the_command_prints_cycles(tmp_path, capsys):
    path = tmp_path / "o.csv"
    path.write_text("a,b,0.1\nb,c,0.2\nc,a,-0.3\na,d,1\n")
    assert main([str(path), "--method", "spectral", "--explain", "b,a"]) == 0
    text = capsys.readouterr().out
    assert "nodes       4" in text
    assert "measurement 0, a - b" in text
