import io
import sys

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import gnnsync
from gnnsync.errors import DataFileError
from gnnsync.io.tables.parquet import write_parquet
from tests.io.graphs import named_edges


def store(path, **columns):
    pd.DataFrame(columns).to_parquet(path)
    return path


def test_columns_by_known_and_by_named_titles(tmp_path):
    path = store(tmp_path / "a.parquet", to=["b", "c"], note=[1, 2], source=["a", "b"], x=[0.5, 1])
    graph = gnnsync.read(path, columns={"offset": "x"})
    assert named_edges(graph) == [("a", "b"), ("b", "c")]
    assert graph.offset == pytest.approx([0.5, 1.0])


def test_units_weights_and_trust(tmp_path):
    path = store(
        tmp_path / "a.parquet",
        src=[10, 20],
        dst=[20, 30],
        offset=[90, 180],
        weight=[1, 2],
        trusted=[True, False],
    )
    graph = gnnsync.read(path, unit="degrees")
    assert graph.node_names == (10, 20, 30)
    assert graph.offset == pytest.approx([1.5707963, 3.1415927])
    assert graph.trusted.tolist() == [True, False]


def test_standard_input(tmp_path, monkeypatch):
    content = store(tmp_path / "a.parquet", src=[0], dst=[1], offset=[0.5]).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert gnnsync.read("-", format="parquet").num_edges == 1


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"src": ["a"], "dst": ["b"]}, r"missing column 'offset' \(found: src, dst\)"),
        ({"src": ["a", None], "dst": ["b", "c"], "offset": [1, 2]}, "src of row 1 is missing"),
        ({"src": ["a"], "dst": ["b"], "offset": [None]}, "column 'offset' is null"),
        ({"src": ["a"], "dst": ["b"], "offset": [[1.0]]}, "'offset' is list<.*must be numbers"),
        ({"src": ["a"], "dst": ["b"], "offset": ["x"]}, "offset holds .*must hold numbers"),
        ({"src": ["a"], "dst": ["a"], "offset": [1.0]}, "self-loop"),
        ({"src": [], "dst": [], "offset": []}, "holds no measurements"),
    ],
)
def test_wrong_tables_are_refused(tmp_path, columns, problem):
    with pytest.raises(DataFileError, match=rf"a\.parquet: .*{problem}"):
        gnnsync.read(store(tmp_path / "a.parquet", **columns))


def test_damaged_and_empty_files(tmp_path):
    path = store(tmp_path / "a.parquet", src=[0], dst=[1], offset=[0.5])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataFileError, match="is not a valid"):
        gnnsync.read(path)
    path.write_bytes(b"")
    with pytest.raises(DataFileError, match="is empty"):
        gnnsync.read(path)


def test_a_file_that_claims_too_many_rows(tmp_path):
    rows = 12_000_000
    same = pa.array([0], pa.int8()).take(pa.array([0] * 1000, pa.int32()))
    column = pa.chunked_array([same] * (rows // 1000))
    path = tmp_path / "bomb.parquet"
    parquet.write_table(pa.table({"src": column, "dst": column, "offset": column}), path)
    with pytest.raises(DataFileError, match="claims 12000000 rows in"):
        gnnsync.read(path)


def test_a_long_name_that_is_repeated_takes_its_room_once(tmp_path):
    rows, name = 20_000, "n" * 100_000
    path = tmp_path / "names.parquet"
    table = {"src": [name] * rows, "dst": [f"n{i}" for i in range(rows)], "offset": [0.5] * rows}
    text = pa.array(table["src"][:1]).dictionary_encode().take(pa.array([0] * rows))
    parquet.write_table(pa.table(table | {"src": text}), path)
    before = pa.default_memory_pool().max_memory()
    graph = gnnsync.read(path)
    assert graph.num_edges == rows
    assert graph.names[0] == name
    assert pa.default_memory_pool().max_memory() < max(before, 100 << 20)


def test_names_of_several_kinds_become_text():
    handle = io.BytesIO()
    write_parquet({"node": ["a", 3, None], "x": [1, 2.5, None]}, handle)
    table = parquet.read_table(handle).to_pydict()
    assert table == {"node": ["a", "3", None], "x": [1.0, 2.5, None]}
