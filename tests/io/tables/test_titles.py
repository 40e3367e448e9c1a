import pytest

from gnnsync.errors import DataFileError, ParameterError
from gnnsync.io.tables.titles import check_columns, check_required, find_titles, parse_columns


def test_known_titles_in_any_case_and_order():
    titles = ["Angle", "comment", "TO", " from "]
    assert find_titles(titles, {}) == {"src": 3, "dst": 2, "offset": 0}


def test_named_titles_come_before_known_ones():
    titles = ["offset", "a", "b", "delta"]
    named = {"src": "a", "dst": "B", "offset": "delta"}
    assert find_titles(titles, named) == {"src": 1, "dst": 2, "offset": 3}
    assert find_titles(["x", "y", "z"], {"src": "1", "dst": "3", "offset": "2"}) == {
        "src": 0,
        "dst": 2,
        "offset": 1,
    }


def test_columns_of_the_command_line():
    assert parse_columns("src=node a, dst = b,offset=c") == {
        "src": "node a",
        "dst": "b",
        "offset": "c",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("src", "COLUMN=TITLE"),
        ("src=", "COLUMN=TITLE"),
        ("src=a,src=b", "one title for src"),
        ("node=a", "titles of src, dst, offset"),
    ],
)
def test_wrong_columns_are_refused(text, words):
    with pytest.raises(ParameterError, match=words):
        parse_columns(text)


def test_what_is_missing_is_named():
    with pytest.raises(DataFileError, match=r"no column 'x' \(found: a, b\): name one of these"):
        find_titles(["a", "b"], {"src": "x"})
    with pytest.raises(DataFileError, match="column 'a' is there twice"):
        find_titles(["a", "a"], {"src": "a"})
    with pytest.raises(DataFileError, match=r"missing column 'dst' .* --columns dst=TITLE"):
        check_required({"src": 0, "offset": 1}, ["src", "offset"])
    with pytest.raises(ParameterError, match="a dictionary"):
        check_columns("src=a")
    with pytest.raises(ParameterError, match="the title of a column"):
        check_columns({"src": 3})
