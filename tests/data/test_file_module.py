import numpy as np
import pytest

import gnnsync
from gnnsync.data import FileDataModule, FileNetworks
from gnnsync.errors import DataFileError, ParameterError


def test_a_file_is_one_network(tmp_path):
    path = tmp_path / "clock.csv"
    path.write_text("a,b,90\nb,c,180\n")
    data = FileDataModule(path, unit="degrees")
    data.setup()
    (graph,) = data.graphs
    assert graph.offset == pytest.approx([np.pi / 2, np.pi])
    assert graph.angles is None
    assert data.describe() == {"graph": "file", "file": "clock.csv", "n": 3, "edges": 2, "k": 1}
    (batch,) = data.train_dataloader()
    assert batch.graphs == [graph]


def test_truth_in_a_npz_is_kept_and_must_agree_with_k(tmp_path, make_multigraph):
    graph = make_multigraph(0)
    gnnsync.write(graph, tmp_path / "g.npz")
    assert FileDataModule(tmp_path / "g.npz").graphs[0].angles.shape == (12, 1)
    with pytest.raises(ParameterError, match="k = 2: must be 1"):
        FileDataModule(tmp_path / "g.npz", k=2).setup()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataFileError, match=r"none\.csv: no such file"):
        FileDataModule(tmp_path / "none.csv").setup()
    with pytest.raises(ParameterError, match="path = ''"):
        FileDataModule("")


def test_options_of_the_reader(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes("n\xf6rd;süd;grad\na;b;90\nb;c;90\n".encode("latin-1"))
    columns = {"src": 1, "dst": "süd", "offset": "grad", "weight": None}
    data = FileNetworks(path, "degrees", columns=columns, encoding="latin-1", trust="none")
    graph = data.make_graph(0)
    assert graph.names == ("a", "b", "c")
    assert np.allclose(graph.offset, np.pi / 2)


@pytest.mark.parametrize(
    ("option", "value"),
    [("columns", {"source": "a"}), ("encoding", "latin-77"), ("trust", "all"), ("unit", "gon")],
)
def test_wrong_options_are_refused_before_the_file_is_read(option, value):
    with pytest.raises(ParameterError, match=option):
        FileNetworks("no such file.csv", **{option: value})
