from __future__ import annotations

import pytest

from gnnsync.errors import GnnsyncError
from gnnsync.experiments.config.composing import hydra_configs
from gnnsync.experiments.sweep.command import Command


@pytest.fixture(autouse=True)
def configs():
    with hydra_configs():
        yield


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data.q=1"], r"data\.q: no such key; .*allowed here: .*eta.*orientation"),
        (["model.encoder.widht=4"], r"widht: no such key; did you mean model\.encoder\.width\?"),
        (["trails=3"], r"trails: no such key; did you mean trials\?"),
        (["data=eroo"], r"data = eroo: did you mean data=ero\? must be one of .*bao.*ero.*rggo"),
        (["model/encoder=gat"], r"model/encoder = gat: must be one of .*dimpa"),
        (["experiment=nothing"], r"experiment = nothing: must be one of .*demo"),
        (["data.eta=0.1,0.2,7"], r"data\.eta = 7: must be a number in \[0, 1\]"),
        (["data.eta=0.1,0.2", "data.p=range(1,4)"], r"data\.p = (2|3): must be"),
        (["nonsense"], r"nonsense"),
        (["output_dir=/proc/none"], r"output_dir: cannot write in /proc/none"),
        (["experiment=paper/main_k1", "scale=huge"], r"scale = huge: must be one of paper, quick"),
        (["scale=quick"], r"scale: no such key"),
        (["data.eta=interval(0,1)"], r"an interval cannot be swept"),
        (["a=[1,"], r"\[1,"),
    ],
)
def test_refuses_in_one_line(overrides, message, tmp_path):
    with pytest.raises(GnnsyncError, match=message) as error:
        Command.of([f"output_dir={tmp_path}", *overrides]).check()
    assert "\n" not in str(error.value)


def test_accepts_a_sweep(tmp_path):
    command = Command.of([f"output_dir={tmp_path}", "data=ero,rggo", "data.eta=0.1,0.2"]).check()
    assert len(list(command.grids[0].points())) == 4


def test_a_search_leaves_ranges_and_the_axes_of_presets_to_the_sweeper():
    overrides = ["experiment=paper/main_k1", "data.eta=interval(0.1,0.9)"]
    (grid,) = Command.of(overrides, search=True).grids
    assert [axis.texts for axis in grid.axes] == [
        ("experiment=paper/main_k1",),
        ("data.eta=0.1",),
    ]
