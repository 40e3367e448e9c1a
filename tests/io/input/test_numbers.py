import math

import pytest

from gnnsync.errors import DataFileError
from gnnsync.io.input.numbers import (
    finite_number,
    is_natural,
    is_number,
    number_problem,
    parse_number,
)
from gnnsync.io.input.source import Source


@pytest.mark.parametrize("text", ["1", " -2.5e3 ", "inf", "nan"])
def test_numbers(text):
    assert is_number(text)
    assert parse_number(text) == pytest.approx(float(text), nan_ok=True)


@pytest.mark.parametrize("text", ["", "x", "1,5", "0x10"])
def test_other_texts(text):
    assert not is_number(text)
    assert parse_number(text) is None


def test_whole_numbers_from_zero():
    assert is_natural("0")
    assert is_natural("9" * 18)
    assert not any(map(is_natural, ("-1", "1.0", "", "x", "9" * 19)))


def test_problems_name_field_and_value():
    assert (
        number_problem("offset", "x") == "offset 'x' is not a number: correct it or remove the line"
    )
    assert (
        number_problem("offset", "inf")
        == "offset 'inf' is not finite: correct it or remove the line"
    )
    assert number_problem("offset", "1") is None
    with pytest.raises(DataFileError, match=r"f\.csv, line 3: weight 'x' is not a number"):
        finite_number(Source("f.csv"), 3, "weight", "x")
    assert math.isclose(finite_number(Source("f.csv"), 3, "weight", "2.5"), 2.5)
