import numpy as np
import pytest

from gnnsync.errors import DataFileError
from gnnsync.io.tables.arrays import choose_columns, graph_from_columns


def test_names_are_numbered_as_in_a_file():
    text = {"src": ["30", "10"], "dst": ["10", "20"], "offset": [1, 2]}
    assert graph_from_columns("t", text).node_names == (10, 20, 30)
    mixed = {"src": np.array(["b", 7], dtype=object), "dst": ["a", "b"], "offset": [1, 2]}
    assert graph_from_columns("t", mixed).node_names == ("b", "a", 7)
    fractions = {"src": [0.0, 1.0], "dst": [1.0, 2.0], "offset": [1, 2]}
    assert graph_from_columns("t", fractions).node_names is None


def test_further_nodes_have_no_measurement():
    columns = {"src": [0], "dst": [1], "offset": [1.0]}
    assert graph_from_columns("t", columns, nodes=[5, 0, 1]).node_names == (0, 1, 5)


def test_flags():
    columns = {"src": ["a", "b"], "dst": ["b", "c"], "offset": [1, 2], "trusted": ["yes", 0.0]}
    columns["trusted"] = np.array(columns["trusted"], dtype=object)
    assert graph_from_columns("t", columns).trusted.tolist() == [True, False]
    with pytest.raises(DataFileError, match="t: trusted of row 1 is maybe: must be 1 or 0"):
        graph_from_columns("t", columns | {"trusted": ["1", "maybe"]})


def test_columns_are_chosen_by_their_titles():
    titles = ["x", "To", "From", "angle"]
    assert choose_columns(titles, {}) == {"src": "From", "dst": "To", "offset": "angle"}
