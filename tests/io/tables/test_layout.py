"""Comments, decimal commas, headers and columns of tables."""

import numpy as np
import pytest

from gnnsync.errors import DataFileError, ParameterError
from tests.io.graphs import named_edges

EDGES = [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    "text",
    [
        "# made on Monday\n\na,b,0.5\n  # more\nb,c,-1.25\n# end",
        "from,to,angle\n#\na,b,0.5\nb,c,-1.25\n",
        "node_a;node_b;delta\na;b;0,5\nb;c;-1,25\n",
        "a;b;0,5\nb;c;-1,25\n",
        "a\tb\t0,5\nb\tc\t-1,25\n",
        "a b 0,5\nb c -1,25\n",
        "a b +5e-1\nb c -1.25\n",
        "src\tdst\ttheta\na\tb\t0,5\nb\tc\t-1,25\n",
        "# offset, dst, src\n0.5,b,a\n-1.25,c,b\n",
        "# src dst offset\na b 0.5\nb c -1.25\n",
        "src;dst;offset;remark\na;b;0.5;one, two\nb;c;-1.25;\n",
    ],
)
def test_what_people_bring(read_text, text):
    graph = read_text(text)
    assert named_edges(graph) == EDGES
    assert graph.offset == pytest.approx([0.5, 2 * np.pi - 1.25])
    assert graph.weight is None


def test_names_with_a_hash_within_quotes_are_no_comments(read_text):
    assert read_text('"#1",#2,0.5\n#1,2,3\n').node_names == ("#1", "#2")


def test_columns_by_title_and_by_number(read_text):
    named = {"src": "left", "dst": "right", "offset": "turn"}
    text = "turn,left,note,right\n0.5,a,x,b\n-1.25,b,y,c\n"
    assert named_edges(read_text(text, columns=named)) == EDGES
    numbered = {"src": "2", "dst": "4", "offset": "1"}
    assert named_edges(read_text(text.split("\n", 1)[1], columns=numbered)) == EDGES
    assert read_text("a,b,1,2,9\n", columns=numbered | {"offset": "3"}).num_edges == 1


def test_whole_numbers_before_decimal_commas(read_text):
    lines = [f"n{i};n{i + 1};{i % 6}" for i in range(100_000)]
    lines.append("x;y;0,5")
    graph = read_text("\n".join(lines))
    assert graph.offset[-1] == 0.5


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a;b;0,5\nb;c;1.25\nc;d;1,0\n", "line 2: offset '1.25' has a decimal point, others"),
        ("a;b;1.5\nb;c;1,25\n", "line 2: offset '1,25' has a decimal comma, others have points"),
        ("a;b;1.000,5\n", "line 1: offset '1.000,5' has a decimal comma, others have points"),
        ("a;b;1,000,5\n", "line 1: offset '1,000,5' is not a number"),
        ("x,y,z\na,b,1\n", "is not a number.*; if .* a header, .* --columns src=x,dst=y,offset=z"),
        ("from,to,value\na,b,1\n", r"missing column 'offset' .* --columns offset=TITLE"),
        ("a,b,1,2,3\n", "5 fields and no header.* --columns src=1,dst=2,offset=3"),
    ],
)
def test_what_cannot_be_read_names_the_remedy(read_text, text, problem):
    with pytest.raises(DataFileError, match=problem):
        read_text(text)


def test_mixed_decimals_in_different_blocks(read_text):
    lines = [f"n{i};n{i + 1};{i % 6}.5" for i in range(100_000)]
    lines.append("x;y;0,5")
    with pytest.raises(DataFileError, match="line 100001: offset '0,5'"):
        read_text("\n".join(lines))


def test_columns_that_do_not_fit(read_text):
    with pytest.raises(DataFileError, match=r"line 1: no column 'x' \(found: 1, 2, 3\)"):
        read_text("a,b,1\n", columns={"src": "x"})
    with pytest.raises(ParameterError, match="used with a table, not with mtx"):
        read_text("", "mtx", columns={"src": "x"})
