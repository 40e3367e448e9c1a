import numpy as np
import pytest

from gnnsync import DistanceNetwork
from gnnsync.errors import GraphError, ParameterError

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def square(**changes):
    given = {
        "pairs": [[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]],
        "distance": [1, 1, 1, 1, 2**0.5],
        "num_points": 4,
    }
    return DistanceNetwork(**(given | changes))


def test_fields_are_checked_copied_and_read_only():
    pairs = np.array([[0, 1], [1, 2]])
    network = DistanceNetwork(pairs, [1, 2], 4, anchors=[3], anchor_positions=[[5, 6]])
    pairs[0, 0] = 9
    assert network.pairs[0, 0] == 0
    assert network.distance.dtype == np.float64
    assert not network.distance.flags.writeable
    assert repr(network) == "DistanceNetwork(num_points=4, num_edges=2, anchors=1)"
    assert network.component.tolist() == [0, 0, 0, 1]
    assert network.num_components == 2
    assert network.degree.tolist() == [1, 2, 1, 0]
    assert network.adjacency.toarray()[2, 1] == 2


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"pairs": [[0], [4]], "distance": [1]}, r"pair 0 is \(0, 4\).* 0\.\.3"),
        ({"pairs": [[2], [2]], "distance": [1]}, "pair 0 joins point 2 to itself: remove it"),
        ({"pairs": [[0, 1], [1, 0]], "distance": [1, 1]}, r"pair 1 \(1 - 0\) is given twice"),
        ({"pairs": [0, 1]}, r"pairs has shape \(2,\)"),
        ({"distance": [1, 1, -1, 1, 1]}, r"distance\[2\] \(2 - 3\) is -1: must be positive"),
        ({"distance": [1, 0, 1, 1, 1]}, r"distance\[1\].* is 0.*one place are one point, merge"),
        ({"distance": [1, 1e-20, 1, 1, 1]}, r"distance\[1\].*nothing beside the largest"),
        ({"distance": [1, 1, 1, 1, np.inf]}, r"distance\[4\] is inf: must be finite"),
        ({"distance": [1, 1, 1, 1, 1e200]}, r"distance\[4\] is 1e\+200: must be at most"),
        ({"deviation": [1, 1, 0, 1, 1]}, r"deviation\[2\].* must be positive"),
        ({"anchors": [0]}, "must be given together"),
        ({"anchors": [7], "anchor_positions": [[0, 0]]}, r"anchors\[0\] is 7"),
        ({"anchors": [1, 1], "anchor_positions": [[0, 0], [1, 0]]}, "has point 1 twice"),
        ({"anchors": [1, 3], "anchor_positions": [[2, 2], [2, 2]]}, "1 and 3 are at one place"),
        ({"anchors": [1], "anchor_positions": [[0, 0, 0]]}, r"anchor_positions has shape \(1, 3\)"),
        ({"points": np.zeros((3, 2))}, r"points has shape \(3, 2\)"),
        ({"outlier": [1, 2, 0, 0, 0]}, r"outlier\[1\] is 2"),
        ({"names": ("a", "b")}, "names has 2 entries: must have 4"),
    ],
)
def test_wrong_fields_are_refused_in_one_line(changes, problem):
    with pytest.raises(GraphError, match=problem) as caught:
        square(**changes)
    assert "\n" not in str(caught.value)


def test_messages_use_the_names_of_the_points():
    with pytest.raises(GraphError, match=r"distance\[2\] \(c - d\) is -1"):
        square(distance=[1, 1, -1, 1, 1], names=("a", "b", "c", "d"))
    with pytest.raises(ParameterError, match="num_points = 0"):
        square(num_points=0)


def test_residual_is_zero_at_the_truth_and_not_a_number_without_position():
    network = square()
    assert network.residual(SQUARE) == pytest.approx(np.zeros(5))
    assert network.residual(2 * SQUARE) == pytest.approx([1, 1, 1, 1, 2**0.5])
    place = SQUARE.copy()
    place[3] = np.nan
    assert np.isnan(network.residual(place)).tolist() == [False, False, True, True, False]


def test_parts_keep_what_belongs_to_them():
    network = square(
        deviation=[1, 2, 3, 4, 5],
        outlier=[0, 1, 0, 0, 1],
        points=SQUARE,
        anchors=[0, 2],
        anchor_positions=SQUARE[[0, 2]],
        names=("a", "b", "c", "d"),
    )
    kept = network.keep_edges(np.array([1, 4]))
    assert kept.deviation.tolist() == [2, 5]
    assert kept.outlier.all()
    part, edges = network.subnetwork(np.array([2, 1]))
    assert edges.tolist() == [1]
    assert part.pairs.tolist() == [[1], [0]]
    assert part.names == ("c", "b")
    assert part.anchors.tolist() == [0]
    assert part.anchor_positions.tolist() == [[1, 1]]
    assert part.residual(part.points) == pytest.approx([0])
