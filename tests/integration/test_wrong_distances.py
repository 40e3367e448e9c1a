"""Wrong and odd inputs of `gnnsync locate`: one clear sentence each, and nothing written.

What cannot be a network of distances is refused with code 2. What is one, but does not determine
all points, is located as far as it goes, and the summary says what is open.
"""

import os

import pytest

from gnnsync.cli.main import main

SQUARE = "a,b,1\nb,c,1\nc,d,1\nd,a,1\n"
# All six distances of a square: globally rigid.
RIGID = f"{SQUARE}a,c,1.4142135624\nb,d,1.4142135624\n"
OTHER = RIGID.translate(str.maketrans("abcd", "uvwx"))

REFUSED = {
    "negative distance": ("a,b,1\nb,c,-1\n", None, ["line 2", "must be greater than 0"]),
    "two points at one place": ("a,b,1\nb,c,0\n", None, ["line 2", "are one point"]),
    "distance to itself": ("a,b,1\nb,b,1\n", None, ["line 2", "both 'b'", "remove"]),
    "no number": ("a,b,1\nb,c,far\n", None, ["line 2", "'far'"]),
    "not finite": ("a,b,nan\n", None, ["line 1", "not finite", "remove the line"]),
    "no distances": ("i,j,distance\n", None, ["no distances", "i,j,distance"]),
    "nothing beside the largest": ("a,b,1\nb,c,1e-30\n", None, ["b - c", "merge them"]),
    "deviation of 0": ("a,b,1,0.1\nb,c,1,0\n", None, ["line 2", "leave out the column"]),
    "anchors at one place": (RIGID, "a,0,0\nb,0,0\n", ["'a' and 'b' are at one place"]),
    "an anchor at two places": (RIGID, "a,0,0\na,1,0\n", ["'a' is at (0, 0) and at (1, 0)"]),
    "an unknown anchor": (RIGID, "z,0,0\n", ["'z'", "correct its name or remove it"]),
    "an anchor nowhere": (RIGID, "a,inf,0\n", ["not finite"]),
}
OPEN = {
    "disconnected": (RIGID + OTHER, None, ["2 components", "no place relative to each other"]),
    "flexible": (SQUARE, None, ["4 points: 4 with fewer than three distances (a, b, c, d)"]),
    "a point at the end of a line": (f"{RIGID}d,e,1\n", None, ["1 with fewer than three", "(e)"]),
    "two distances only": ("a,b,1\nb,c,1\n", None, ["0 of them localizable"]),
    "two bodies with a hinge": (
        RIGID + OTHER.replace("u", "a"),
        None,
        ["a part that can move or flip against the rest"],
    ),
    "contradictory anchors": (
        RIGID,
        "a,0,0\nb,90,0\nc,1,1\n",
        ["the anchors contradict the distances: ", "but a path of distances between them is only"],
    ),
    "one anchor": (RIGID, "a,5,5\n", ["one anchor: any orientation and mirror image"]),
}


def run(tmp_path, monkeypatch, distances, anchors, *further):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(distances)
    if anchors is not None:
        (tmp_path / "anchors.csv").write_text(anchors)
        further = ("--anchors", "anchors.csv", *further)
    return main(["locate", "d.csv", *further])


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_distances_are_refused_in_one_line(case, tmp_path, monkeypatch, capsys):
    distances, anchors, words = REFUSED[case]
    code = run(tmp_path, monkeypatch, distances, anchors, "--output", "points.csv")
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    (line,) = printed.err.splitlines()
    assert line.startswith("gnnsync locate: ")
    assert all(word in line for word in words), line
    assert "points.csv" not in os.listdir(tmp_path)


@pytest.mark.parametrize("case", OPEN)
def test_open_networks_are_located_as_far_as_they_go(case, tmp_path, monkeypatch, capsys):
    distances, anchors, words = OPEN[case]
    assert run(tmp_path, monkeypatch, distances, anchors) == 0
    printed = capsys.readouterr()
    lines = (printed.out + printed.err).splitlines()
    assert any(all(word in line for word in words) for line in lines), lines
    assert "Traceback" not in printed.err
