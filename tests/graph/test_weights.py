import numpy as np
import pytest

import gnnsync
from gnnsync.cli.solve.command import main
from gnnsync.errors import GraphError, SolutionError
from gnnsync.graph.weights import LARGEST_RATIO, check_weights
from gnnsync.solution import Solution


def weights(values):
    return check_weights(np.array(values), len(values), lambda e: f"edge {e}")


@pytest.mark.parametrize("values", [[1.0, 3.0], [2.0**-99, 1e-29], [1e30, 1e20], []], ids=str)
def test_ordinary_weights_stay(values):
    assert weights(values).tolist() == values


@pytest.mark.parametrize(
    "values", [[5e-324, 5e-324], [5e-324, 1e-310], [1.7e308, 1e300], [1e100, 1e99]], ids=str
)
def test_extreme_weights_keep_their_ratios(values):
    found = weights(values)
    assert 1 <= found.max() < 2
    assert found[0] / found[1] == pytest.approx(values[0] / values[1], rel=1e-12)


def test_scaling_by_a_power_of_two_changes_no_digit():
    base = np.array([1.1, 1.7, 0.3])
    assert np.array_equal(weights(base * 2.0**500), weights(base * 2.0**-900))


@pytest.mark.parametrize("low", [5e-324, 1.0, 1e290])
def test_ratios_beyond_float64_are_refused_by_name(low):
    graph = {"src": ["a", "b", "c"], "dst": ["b", "c", "a"], "offset": [0.0, 0.0, 0.0]}
    high = low * LARGEST_RATIO * 4
    with pytest.raises(GraphError, match=r"edge 2 \(c - a\) is .*edge 1 \(b - c\) .*cannot weigh"):
        gnnsync.MeasurementGraph.from_edges(**graph, weight=[low * 2, high, low])
    gnnsync.MeasurementGraph.from_edges(**graph, weight=[low * 8, low * LARGEST_RATIO, low * 2])


@pytest.mark.parametrize("weight", ["5e-324", "1.7e308"])
def test_files_with_extreme_weights_are_solved(tmp_path, capsys, weight):
    rows = ["a,b,0.5", "b,c,0.5", "c,a,-1", "c,d,1", "d,a,-2"]
    (tmp_path / "a.csv").write_text("\n".join(f"{row},{weight}" for row in rows))
    assert main([str(tmp_path / "a.csv"), "--output", str(tmp_path / "out.csv")]) == 0
    assert "nan" not in (tmp_path / "out.csv").read_text()
    assert "about 0.0%" in capsys.readouterr().out


def test_a_file_with_both_is_refused_in_one_line(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a,b,0.5,5e-324\nb,c,1,1.7e308\n")
    assert main([str(tmp_path / "a.csv")]) == 2
    message = capsys.readouterr().err
    assert "a.csv: weight of edge 0 (a - b) is 4.94066e-324, of edge 1 (b - c) 1.7e+308" in message
    assert len(message.splitlines()) == 1


def test_no_solution_holds_nan(triangle_and_tail):
    with pytest.raises(SolutionError, match="no finite angle was found for node 3"):
        Solution.from_angles(triangle_and_tail, np.array([0, 1, 2, np.nan, 0]))
