from __future__ import annotations

from gnnsync.results.columns import Columns, encodable


def test_gaps_are_filled_before_and_after():
    columns = Columns()
    columns.add([{"a": 1}])
    columns.add([{"b": "x"}, {"a": 2, "b": None}])
    frame = columns.frame()
    assert frame["a"].isna().tolist() == [False, True, False]
    assert frame["b"].isna().tolist() == [True, False, True]


def test_one_type_per_column():
    columns = Columns()
    columns.add([{"int": 1, "real": 1, "flag": True, "text": 1, "none": None}])
    columns.add([{"int": 2, "real": 0.5, "flag": False, "text": "b", "none": None}])
    kinds = {name: str(kind) for name, kind in columns.frame().dtypes.items()}
    assert kinds == {
        "int": "int64",
        "real": "float64",
        "flag": "boolean",
        "text": "str",
        "none": "float64",
    }


def test_half_characters_are_replaced():
    assert encodable("a\ud800b") == "a?b"
    columns = Columns()
    columns.add([{"name": "\ud800"}])
    assert columns.frame()["name"].tolist() == ["?"]
