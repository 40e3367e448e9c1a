import math
from fractions import Fraction

import numpy as np
import pytest

from gnnsync.errors import (
    DataFileError,
    GnnsyncError,
    GraphError,
    ParameterError,
    check_array,
    check_bool,
    check_choice,
    check_integer,
    check_real,
    check_whole_array,
    first_line,
    one_line,
    printable,
)


def test_every_error_is_a_gnnsync_error_and_a_value_error():
    for kind in (ParameterError, GraphError, DataFileError):
        assert issubclass(kind, GnnsyncError)
        assert issubclass(kind, ValueError)


def test_parameter_error_names_parameter_value_and_remedy():
    error = ParameterError("eta", 1.5, "a number in [0, 1]")
    assert str(error) == "eta = 1.5: must be a number in [0, 1]"
    assert (error.name, error.value, error.allowed) == ("eta", 1.5, "a number in [0, 1]")


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25), np.int64(1), Fraction(1, 3)])
def test_check_real_takes_every_kind_of_real_number(value):
    checked = check_real("p", value, 0, 1)
    assert type(checked) is float
    assert checked == float(value)


@pytest.mark.parametrize(
    "value", [-0.1, 1.1, math.nan, math.inf, True, np.True_, "0.5", None, 1j, [0.5], 10**400]
)
def test_check_real_rejects(value):
    with pytest.raises(ParameterError, match=r"^p = .*: must be a number in \[0, 1\]$"):
        check_real("p", value, 0, 1)


def test_check_real_open_bounds_and_their_wording():
    with pytest.raises(ParameterError, match=r"s = 0: must be a number in \(0, 1\)"):
        check_real("s", 0, 0, 1, open_low=True, open_high=True)
    with pytest.raises(ParameterError, match=r"\(0, 1\)"):
        check_real("s", 1.0, 0, 1, open_low=True, open_high=True)
    with pytest.raises(ParameterError, match=r"must be a number in \[0, inf\)"):
        check_real("s", -1, 0)
    with pytest.raises(ParameterError, match="must be a finite number"):
        check_real("s", math.inf)


@pytest.mark.parametrize("value", [1.0, "2", True, None, math.nan, 0, 6])
def test_check_integer_rejects(value):
    with pytest.raises(ParameterError, match=r"k = .*: must be a whole number, at least 1 and at"):
        check_integer("k", value, 1, 5)


def test_check_integer_returns_a_plain_int():
    checked = check_integer("k", np.int32(3), 1)
    assert type(checked) is int
    assert checked == 3


@pytest.mark.parametrize("value", ["left", None, 1, ["random"], np.array(["random", "upper"])])
def test_check_choice_rejects_and_lists_the_choices(value):
    with pytest.raises(ParameterError, match="one of random, upper"):
        check_choice("orientation", value, ("random", "upper"))


def test_check_choice_and_check_bool_return_what_they_accept():
    assert check_choice("orientation", "upper", ("random", "upper")) == "upper"
    assert check_bool("resume", False) is False


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_check_bool_rejects(value):
    with pytest.raises(ParameterError, match=r"resume = .*: must be true or false"):
        check_bool("resume", value)


def test_check_array_names_place_and_value():
    assert check_array("x", [1, 2], (2,)).dtype == np.float64
    with pytest.raises(GraphError, match=r"^x\[1, 0\] is nan: must be finite$"):
        check_array("x", [[1.0, 2.0], [np.nan, 3.0]])
    with pytest.raises(GraphError, match=r"^x has shape \(2,\): must be \(3,\)$"):
        check_array("x", [1.0, 2.0], (3,))


@pytest.mark.parametrize("value", [[1j], ["1.0"], [None], [True]])
def test_check_array_rejects_what_is_not_a_real_number(value):
    with pytest.raises(GraphError, match=r"^x holds .*must hold real numbers"):
        check_array("x", value)


def test_ragged_lists_are_rejected():
    with pytest.raises(GraphError, match="x is ragged"):
        check_array("x", [[1.0], [1.0, 2.0]])


def test_check_whole_array():
    whole = check_whole_array("i", [1.0, 2.0])
    assert whole.dtype == np.int64
    assert whole.tolist() == [1, 2]
    assert check_whole_array("i", []).shape == (0,)
    for bad, text in [(0.5, "0.5"), (np.nan, "nan"), (np.inf, "inf"), (1e300, r"1e\+300")]:
        with pytest.raises(GraphError, match=rf"^i\[1\] is {text}: must be a whole number$"):
            check_whole_array("i", [0.0, bad])


def test_messages_of_several_lines():
    error = ValueError("\n  first  line\nsecond\n")
    assert first_line(error) == "first  line"
    assert one_line(error) == "first line second"
    assert one_line("a\nb", "; ") == "a; b"
    assert first_line(ValueError()) == one_line(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 字", "plain é 字"),
        ("a\x1b[31mred", r"a\x1b[31mred"),
        ("a\x07\x9b1m", r"a\x07\x9b1m"),
        ("right\u202eleft", r"right\u202eleft"),
        ("\ud800", r"\ud800"),
    ],
)
def test_text_cannot_control_a_terminal(text, shown):
    assert printable(text) == shown
    assert one_line(text) == shown
