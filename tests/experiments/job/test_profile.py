"""The profile of a job with a classical method."""

from __future__ import annotations

import logging

from gnnsync.experiments.job.profile import PROFILE, profiled
from gnnsync.methods import GPM
from tests.command import main
from tests.methods.networks import synthetic


def test_the_functions_of_the_package_are_shown_and_all_are_written(tmp_path, caplog):
    graph = synthetic(0.3, 0.1, n=60)
    with caplog.at_level(logging.INFO), profiled(tmp_path):
        GPM()(graph)
    lines = caplog.text.splitlines()
    assert any("methods.gpm.estimate" in line for line in lines)
    assert not any("scipy" in line for line in lines)
    assert "scipy" in (tmp_path / PROFILE).read_text()


def test_debug_profile_of_a_classical_method(tmp_path, capsys):
    options = ["data.n=40", "data.p=0.3", f"output_dir={tmp_path}"]
    assert main(["run", "debug=profile", "method=gpm", *options]) == 0
    assert "methods.gpm.estimate" in capsys.readouterr().err
    assert len(list(tmp_path.rglob(PROFILE))) == 1
