import numpy as np
import pytest

import gnnsync
from gnnsync.data import FileDataModule
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
