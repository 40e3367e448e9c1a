from __future__ import annotations

import pytest

from gnnsync.errors import ConfigError
from gnnsync.experiments.composing import hydra_configs
from gnnsync.experiments.sweep.preflight import check_command


@pytest.fixture(autouse=True)
def configs():
    with hydra_configs():
        yield


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data.q=1"], r"data\.q: no such key; .*allowed here: .*eta.*orientation"),
        (["model.encoder.widht=4"], r"widht: no such key; did you mean width\?"),
        (["trails=3"], r"trails: no such key; did you mean trials\?"),
        (["data=eroo"], r"data = eroo: must be one of .*bao.*ero.*rggo"),
        (["model/encoder=gat"], r"model/encoder = gat: must be one of .*dimpa"),
        (["experiment=nothing"], r"experiment = nothing: must be one of .*demo"),
        (["data.eta=0.1,0.2,7"], r"data\.eta = 7: must be a number in \[0, 1\]"),
        (["data.eta=0.1,0.2", "data.p=range(1,4)"], r"data\.p = (2|3): must be"),
        (["nonsense"], r"nonsense"),
        (["output_dir=/proc/none"], r"output_dir: cannot write in /proc/none"),
        (["experiment=paper/main_k1", "scale=huge"], r"scale = huge: must be one of paper, quick"),
        (["scale=quick"], r"scale: no such key"),
        (["data.eta=interval(0,1)"], r"an interval has no end of values"),
        (["+trainer.options.devices=4"], r"devices = 4: a job trains on one device"),
        (["+trainer.options.strategy=ddp"], r"strategy = ddp: a job trains on one device"),
    ],
)
def test_refuses_in_one_line(overrides, message, tmp_path):
    with pytest.raises(Exception, match=message) as error:
        check_command([f"output_dir={tmp_path}", *overrides], multirun=True)
    assert "\n" not in str(error.value)


def test_accepts_a_sweep(tmp_path):
    check_command([f"output_dir={tmp_path}", "data=ero,rggo", "data.eta=0.1,0.2"])


def test_bad_override_syntax_is_a_config_error(tmp_path):
    with pytest.raises(ConfigError):
        check_command([f"output_dir={tmp_path}", "a=[1,"])
