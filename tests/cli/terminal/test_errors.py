import pytest

from gnnsync.cli.terminal.errors import exit_code
from gnnsync.errors import DataFileError


def raising(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            DataFileError("a.csv: is bad\n  in two lines"),
            2,
            "gnnsync x: a.csv: is bad in two lines",
        ),
        (KeyboardInterrupt(), 130, "gnnsync x: interrupted"),
    ],
)
def test_errors_are_one_line(capsys, error, code, message):
    assert exit_code("gnnsync x", raising(error)) == code
    assert capsys.readouterr().err == message + "\n"


def test_success_is_silent(capsys):
    assert exit_code("gnnsync x", lambda: None) == 0
    assert capsys.readouterr() == ("", "")


def test_other_errors_are_bugs_and_keep_their_traceback():
    with pytest.raises(ZeroDivisionError):
        exit_code("gnnsync x", raising(ZeroDivisionError()))
