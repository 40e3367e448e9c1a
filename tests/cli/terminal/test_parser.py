import pytest

from gnnsync.cli.terminal.parser import OneLineParser


def parser():
    made = OneLineParser("gnnsync cook", description="cook")
    made.add_argument("--minutes", type=int)
    return made


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--minutes", "x"], "--minutes: invalid int"), (["--min", "3"], "--min"), (["a"], "a")],
)
def test_errors_are_one_line_with_code_2(arguments, words, capsys):
    with pytest.raises(SystemExit) as caught:
        parser().parse_args(arguments)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("gnnsync cook: ")
    assert line.endswith("gnnsync cook --help lists the options")
    assert words in line


def test_a_misspelt_option_is_named(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["--minuets", "3"])
    assert "--minuets 3; did you mean --minutes?" in capsys.readouterr().err


def test_right_arguments_are_parsed():
    assert parser().parse_args(["--minutes", "3"]).minutes == 3
