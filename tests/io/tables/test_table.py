import pytest

from gnnsync.errors import DataFileError
from gnnsync.io import read
from gnnsync.io.tables.columns import DecimalCommaWarning
from tests.io.graphs import assert_one_line, named_edges


@pytest.mark.parametrize(
    "text",
    [
        "a,b,0.5,2\nb,c,1,3\n",
        "a\tb\t0.5\t2\nb\tc\t1\t3",
        "a;b;0.5;2\r\nb;c;1;3\r\n",
        "  a b 0.5 2\n\nb   c 1 3\n",
        "\ufeffweight,dst,offset,src\n2,b,.5,a\n3,c,1e0,b\n",
        "Source, Target, Offset, comment, Weight\na, b, 0.5, hello, 2\n\nb, c, 1, , 3\n",
    ],
)
def test_separators_headers_and_line_endings(read_text, text):
    graph = read_text(text)
    assert named_edges(graph) == [("a", "b"), ("b", "c")]
    assert graph.offset == pytest.approx([0.5, 1.0])
    assert graph.weight == pytest.approx([2, 3])


def test_whole_numbers_are_sorted_and_text_stays_in_order(read_text):
    assert read_text("30,10,1\n10,20,2\n").node_names == (10, 20, 30)
    assert read_text("2,0,1\n0,1,2\n").node_names is None
    assert read_text("b,a,1\n07,7,2\n").node_names == ("b", "a", "07", "7")


def test_tables_longer_than_a_block(read_text):
    lines = [f"n{i},n{i + 1},{i % 6}.25" for i in range(100_000)]
    graph = read_text("\n".join(lines))
    assert graph.num_edges == 100_000
    assert graph.offset[70_001] == pytest.approx(70_001 % 6 + 0.25)
    lines[90_000] = "n1,n2,six"
    with pytest.raises(DataFileError, match="line 90001: offset 'six' is not a number"):
        read_text("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no measurements"),
        ("\n\n", "holds no measurements"),
        ("src,dst,offset\n", "holds no measurements"),
        ("src,dst\na,b\n", r"line 1: missing column 'offset' \(found: src, dst\)"),
        ("src,offset,weight\na,1,2\n", "line 1: missing column 'dst'"),
        ("a,b\nb,c\n", "line 1: 2 fields and no header"),
        ("a,b,x\n", "line 1: offset 'x' is not a number"),
        ("a,b,1\n\nb,c,one\n", "line 3: offset 'one' is not a number"),
        ("a,b,1\nb,c,nan\n", "line 2: offset 'nan' is not finite"),
        ("a,b,1\nb,c,inf\n", "line 2: offset 'inf' is not finite"),
        ("a,b,1\nb,c\n", "line 2: 2 fields, the first line has 3"),
        ("a,b,1\nb,c,1,2\n", "line 2: 4 fields, the first line has 3"),
        ("a,b,1\nc,c,1\n", "line 2: src and dst are both 'c': remove the self-loop"),
        ("a,b,1,1\nb,c,1,0\n", "line 2: weight 0 must be greater than 0"),
        ("a,b,1,1\nb,c,1,\n", "line 2: weight '' is not a number"),
        ("a,b,1\n,c,1\n", "line 2: src is empty"),
        ("src,dst,offset,group\na,b,1,0.5\n", "line 2: group 0.5 must be -1"),
        ('a,b,1\n"c\nd",e,1\n', "quoted field"),
        (b"a,b,1\n\xff\xfe,c,1\n", "is not text in UTF-8"),
    ],
)
def test_errors_state_line_and_field(read_text, text, problem):
    with pytest.raises(DataFileError, match=problem) as caught:
        read_text(text, "csv")
    assert_one_line(str(caught.value), "file.csv")


@pytest.mark.parametrize("title", ["trusted", "trust", "Known_Inlier"])
def test_trusted_column(read_text, title):
    text = (
        f"src,dst,offset,{title}\na,b,1,1\nb,c,2,no\nc,a,3, TRUE\na,b,1,0\nb,a,1,yes\nb,c,0,false\n"
    )
    graph = read_text(text)
    assert graph.trusted.tolist() == [True, False, True, False, True, False]
    assert read_text(text, trust="none").trusted is None


@pytest.mark.parametrize("word", ["maybe", "2", "", "nan"])
def test_a_trusted_column_has_flags_only(read_text, word):
    with pytest.raises(DataFileError, match=r"line 3: trusted .* must be 1 or 0"):
        read_text(f"src,dst,offset,trusted\na,b,1,1\nb,c,2,{word}\n")


WHOLE = "a,b,1,5\nb,c,0,25\nc,a,-2,125\n"


def test_decimal_commas_between_commas_are_told_from_weights_by_a_warning(tmp_path):
    path = tmp_path / "offsets.csv"
    path.write_text(WHOLE)
    with pytest.warns(DecimalCommaWarning, match="if 1,5 means 1.5.*--columns src=1,dst=2"):
        read(path)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("src,dst,offset,weight\n" + WHOLE, None),
        (WHOLE, {"src": "1", "dst": "2", "offset": "3", "weight": "4"}),
        (WHOLE.replace("-2,", "-2.5,"), None),
        ("a,b,1,1\nb,c,0,1\n", None),
        (WHOLE.replace(",", ";"), None),
    ],
    ids=["header", "columns", "points", "equal weights", "semicolons"],
)
def test_weights_that_are_meant_give_no_warning(text, columns, tmp_path, recwarn):
    path = tmp_path / "offsets.csv"
    path.write_text(text)
    assert read(path, columns=columns).weight is not None
    assert not [w for w in recwarn if w.category is DecimalCommaWarning]
