"""Cells of text in CSV files that a spreadsheet would run as a formula.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`, also behind a tab or a carriage
return: a file from a stranger could hold a node named `=HYPERLINK(...)`. Such a name is written
with an apostrophe in front, which spreadsheets take for "this is text", and read without it.
"""

from __future__ import annotations

import re
from typing import Any

from gnnsync.io.input.numbers import is_number

# Names with an apostrophe of their own get another one, so that reading gives back every name.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def guard_cell(value: Any) -> Any:
    """The value with an apostrophe in front if it is text that a spreadsheet would run.

    Text that is a number, such as -1.5, is none.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not is_number(value):
        return f"'{value}"
    return value


def plain_cell(text: str) -> str:
    """The text without the apostrophe of `guard_cell`."""
    return text[1:] if _GUARDED.match(text) and not is_number(text[1:]) else text
