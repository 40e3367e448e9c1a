import pytest

from gnnsync.cli.locate.options import check_outputs, locate_parser
from gnnsync.errors import DataFileError, ParameterError


def options(*arguments):
    return locate_parser().parse_args(arguments)


def test_defaults():
    found = options("d.csv")
    assert (found.file, found.method, found.seed, found.anchors) == ("d.csv", "auto", 0, None)
    assert (found.output, found.plot, found.html, found.json) == (None, None, None, False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["d.csv", "--edges", "-"], "--output - prints the points"),
        (["-", "--anchors", "-"], "FILE is standard input"),
        (["d.csv", "-o", "-", "--json"], "whose summary is printed"),
        (["d.csv", "-o", "points.xlsx"], "must be one of .csv, .parquet, .json"),
        (["d.csv", "--plot", "map.bmp"], r"map\.bmp"),
        (["d.csv", "--output", ""], "--output"),
        ([""], "the name of a file"),
    ],
)
def test_wrong_outputs_are_refused_before_any_work(arguments, words):
    with pytest.raises((ParameterError, DataFileError), match=words):
        check_outputs(options(*arguments))


def test_an_output_is_not_an_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("a,b,1\n")
    with pytest.raises(DataFileError, match="is the input"):
        check_outputs(options("d.csv", "--output", "d.csv"))
    check_outputs(options("d.csv", "--output", "points.csv", "--plot", "map.png"))
