import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.anchors import (
    FileAnchors,
    GivenAnchors,
    NamedAnchors,
    NoAnchors,
    SeveralAnchors,
    ShareAnchors,
    as_anchors,
    parse_fixed,
)
from gnnsync.errors import DataFileError, GnnsyncError, ParameterError
from gnnsync.units import DEGREES


@pytest.fixture
def graph():
    return MeasurementGraph.from_edges(["a", "b", 7], ["b", 7, "a"], [0.1, 0.2, -0.3])


@pytest.mark.parametrize(
    "anchors",
    [{"a": 90, 7: 0}, {"a": [90.0], "7": 360}, np.array([90, np.nan, 0]), [[90], [np.nan], [0]]],
    ids=repr,
)
def test_dictionaries_and_arrays(graph, anchors):
    known = as_anchors(anchors, DEGREES)(graph, 1)
    assert np.isnan(known[1, 0])
    assert np.exp(1j * known[[0, 2], 0]) == pytest.approx([1j, 1])


def test_files(graph, tmp_path):
    path = tmp_path / "k.csv"
    path.write_text("# known\nnode;angle\na;90\n\n7;0\na;450\n")
    known = as_anchors(path, DEGREES)(graph, 1)
    assert known[:, 0] == pytest.approx([np.radians(450), np.nan, 0.0], nan_ok=True)
    path.write_text("a 0 90\n")
    assert FileAnchors(path, "degrees")(graph, 2)[0] == pytest.approx([0, np.pi / 2])


def test_nothing_and_objects_of_their_own(graph):
    assert isinstance(as_anchors(None), NoAnchors)
    own = ShareAnchors()
    assert as_anchors(own) is own
    assert GivenAnchors(np.full((3, 1), np.nan))(graph, 1) is None
    assert NamedAnchors({})(graph, 1) is None


@pytest.mark.parametrize(
    ("anchors", "k", "problem"),
    [
        ({"x": 0}, 1, "anchors = 'x': must be a node of the measurements"),
        ({"a": np.nan}, 1, r"anchors\[a\] = nan: must be finite numbers"),
        ({"a": "north"}, 1, "must be finite numbers"),
        ({"a": 1.0}, 2, r"must be 2 angles for a \(k = 2\)"),
        ({7: 1.0, "7": 2.0}, 1, "must be the only angle of 7"),
        (np.zeros(4), 1, r"anchors.shape = \(4, 1\): must be \(3, 1\)"),
        (np.array([np.inf, 0, 0]), 1, "must be a dictionary"),
        (3.0, 1, "must be a dictionary"),
        ("none.csv", 1, "no such file"),
    ],
)
def test_wrong_anchors_are_refused(graph, anchors, k, problem):
    with pytest.raises(GnnsyncError, match=problem):
        as_anchors(anchors)(graph, k)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x,0\n", "line 1: no node is called 'x'"),
        ("a,0\na,1\n", "line 2: another angle for 'a': remove one"),
        ("a,nan\n", "is not finite"),
        ("a,0,1\n", "line 1: 3 fields: must be node and 1 angle"),
        ("a,1\nb,north\n", "line 2: angle 'north' is not a number"),
        ("node,angle\n", "holds no angle"),
        ("", "holds no angle"),
    ],
)
def test_wrong_files_are_refused(graph, tmp_path, text, problem):
    (tmp_path / "k.csv").write_text(text)
    with pytest.raises(DataFileError, match=problem):
        FileAnchors(tmp_path / "k.csv")(graph, 1)


def test_fixed_angles_of_the_command_line():
    assert parse_fixed(["A=0", "b=c=-1.5e1", "k=0,90", "A=0"]) == {
        "A": [0.0],
        "b=c": [-15.0],
        "k": [0.0, 90.0],
    }
    for text in ("A", "=3", "A=", "A=x", "A=nan", "A=1,", "A=inf"):
        with pytest.raises(ParameterError, match="must be NODE=ANGLE"):
            parse_fixed([text])
    with pytest.raises(ParameterError, match="the only angle of A"):
        parse_fixed(["A=0", "A=1"])


def test_several_sources_must_agree(graph):
    both = SeveralAnchors((NamedAnchors({"a": 0.0}), NamedAnchors({"b": 1.0, "a": 2 * np.pi})))
    assert both(graph, 1)[:2, 0] == pytest.approx([2 * np.pi, 1.0])
    with pytest.raises(ParameterError, match="--fix = 'a'"):
        SeveralAnchors((NamedAnchors({"a": 0.0}), NamedAnchors({"a": 1.0})))(graph, 1)
