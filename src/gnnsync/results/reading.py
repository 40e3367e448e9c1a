"""Reading files that a job or a sweep has written: what is broken counts as absent.

A file may be empty or cut off (a full disk, a machine that lost power), hold something else, be
nested so deep that Python cannot follow, or hold numbers that no float can. How much is read, and
what it may expand to, is bounded.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnnsync.errors import DataFileError, first_line

if TYPE_CHECKING:
    from gnnsync.typing import FloatArray

log = logging.getLogger(__name__)

# Levels of dictionaries and lists in the files of a job: about ten.
_DEEPEST = 100
# Values of a config: some hundred. Aliases make a short YAML file describe any number.
_MOST_VALUES = 100_000
_LARGEST = 1.7e308
_MOST_DIGITS = 308  # of a whole number that any float can hold
# Bytes of a JSON file: 20,000 rows. Empty lists take 20 times as much memory as text.
_LONGEST_JSON = 32 << 20
# Bytes of a YAML file: a config has about 5,000, and 100,000 take a second.
_LONGEST_YAML = 256 << 10
_LEFT_OUT = "%s cannot be read and is left out (%s)"


def read_json(path: Path) -> Any:
    """The content of a JSON file; None if it is missing or broken, numbers that are none included.

    NaN, infinity and what no float can hold are no numbers.
    """
    try:
        content = json.loads(
            _text(path, _LONGEST_JSON),
            parse_constant=_no_constant,
            parse_float=_real,
            parse_int=_whole,
        )
    except (OSError, ValueError, RecursionError, MemoryError):
        return None
    return content if _is_shallow(content) else None


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; empty if the file is missing, broken, or no plain mapping."""
    import yaml  # not every reader of results needs it

    class PlainLoader(yaml.SafeLoader):
        """No merged mappings (`<<`): a short file of them describes any number of values."""

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            """Leave the key, which is then unknown."""

    try:
        content = yaml.load(_text(path, _LONGEST_YAML), PlainLoader)
    except (OSError, ValueError, RecursionError, MemoryError, TypeError, yaml.YAMLError):
        return {}
    return content if isinstance(content, dict) and _is_plain(content) else {}


def read_arrays(path: Path, names: Sequence[str]) -> list[FloatArray] | None:
    """Arrays of real numbers in an NPZ file; None if one is not there.

    A file that is there and cannot be read is named in a warning.
    """
    # Lists of runs are read without NumPy.
    from gnnsync.io.input.array_file import load_arrays
    from gnnsync.io.input.source import Source

    if not path.exists():
        return None
    try:
        arrays = load_arrays(Source(path), names)
    except DataFileError as error:
        log.warning(_LEFT_OUT, path, first_line(error).removeprefix(f"{path}: "))
        return None
    found = [arrays[name] for name in names if name in arrays]
    if any(array.dtype.kind not in "fiu" for array in found):
        log.warning(_LEFT_OUT, path, "it does not hold numbers")
        return None
    return found if len(found) == len(names) else None


def read_maps(path: Path) -> tuple[FloatArray, FloatArray] | None:
    """True and recovered points (n, 2) in the solutions of a job; None if they are not there."""
    found = read_arrays(path, ("points", "recovered"))
    if found is None:
        return None
    points, recovered = found
    if points.ndim != 2 or points.shape[1] != 2 or points.shape != recovered.shape:
        log.warning(_LEFT_OUT, path, "its points are not of shape (n, 2)")
        return None
    return points, recovered


def is_number(value: Any) -> bool:
    """Whether a value is a real number that a float can hold; truth values are not."""
    return type(value) in (int, float) and -_LARGEST < value < _LARGEST


def _text(path: Path, most: int) -> str:
    """The text of a file of at most `most` bytes."""
    if not path.is_file():  # a pipe would be waited for
        raise FileNotFoundError(path)
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"more than {most} bytes")
    return data.decode("utf-8")


def _real(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is no float")
    return value


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{len(text)} digits are no float")
    return int(text)


def _no_constant(text: str) -> Any:
    """JSON has no NaN and no infinity; Python's reader would accept them."""
    raise ValueError(f"{text} is not JSON")


def _is_shallow(tree: Any, levels: int = _DEEPEST) -> bool:
    if not isinstance(tree, dict | list):
        return True
    children = tree.values() if isinstance(tree, dict) else tree
    return levels > 0 and all(
        _is_shallow(child, levels - 1) for child in children if isinstance(child, dict | list)
    )


def _is_plain(tree: dict[Any, Any]) -> bool:
    """Whether a YAML document has plain keys and values and a sensible size."""
    waiting: list[tuple[Any, int]] = [(tree, _DEEPEST)]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return True
        value, levels = waiting.pop()
        if isinstance(value, dict):
            if not all(isinstance(key, str | int | float | None) for key in value):
                return False
            waiting += [(child, levels - 1) for child in value.values()]
        elif isinstance(value, list):
            waiting += [(child, levels - 1) for child in value]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if not is_number(value) and not (isinstance(value, float) and math.isinf(value)):
                return False
        elif not isinstance(value, str | bool | None):
            return False
        if levels <= 0:
            return False
    return False
