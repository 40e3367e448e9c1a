import os

import pytest
from matplotlib.figure import Figure

from gnnsync.io.figure_file import write_figure

STARTS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.parametrize("ending", STARTS)
def test_every_format(tmp_path, ending):
    figure = Figure(figsize=(1, 1))
    write_figure(figure, tmp_path / f"f.{ending}")
    content = (tmp_path / f"f.{ending}").read_bytes()
    assert content.startswith(STARTS[ending])
    write_figure(figure, tmp_path / f"f.{ending}")
    assert (tmp_path / f"f.{ending}").read_bytes() == content


def test_an_unknown_format_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="xyz"):
        write_figure(Figure(), tmp_path / "f.xyz")
    assert os.listdir(tmp_path) == []
