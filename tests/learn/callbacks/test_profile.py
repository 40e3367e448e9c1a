from __future__ import annotations

import logging
from types import SimpleNamespace

from pytorch_lightning.profilers import PassThroughProfiler, SimpleProfiler

from gnnsync.learn.callbacks import ProfileReport
from tests.command import main


def trainer(profiler, folder):
    return SimpleNamespace(profiler=profiler, default_root_dir=str(folder))


def test_the_largest_parts_are_logged_and_all_are_written(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    profiler = SimpleProfiler()
    profiler.recorded_durations = {f"part {i}": [float(i)] * 2 for i in range(1, 21)}
    ProfileReport().on_fit_end(trainer(profiler, tmp_path), None)
    lines = caplog.messages[0].splitlines()
    assert str(tmp_path / "profile.txt") in lines[0]
    assert lines[1].split() == ["seconds", "share", "calls", "part"]
    assert lines[2].split() == ["40.000", "100", "%", "2", "part", "20"]
    assert len(lines) == 12
    assert (tmp_path / "profile.txt").read_text().count("part ") == 20


def test_without_a_profiler_it_says_how_to_get_one(tmp_path, caplog):
    ProfileReport().on_fit_end(trainer(PassThroughProfiler(), tmp_path), None)
    assert "add trainer.profiler=simple" in caplog.text
    assert not list(tmp_path.iterdir())


def test_debug_profile_shows_the_profile(tmp_path, capfd):
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    small = ["data.n=30", "data.p=0.4", "figures=false", "logger=none", f"output_dir={tmp_path}"]
    try:
        assert main(["run", "debug=profile", *small]) == 0
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    (path,) = (tmp_path / "debug").glob("*-????????/profile.txt")
    assert "run_training_batch" in path.read_text()
    told = capfd.readouterr().err
    assert told.count("took most time") == 1
    assert "run_training_batch" in told
    assert "Profiler Report" not in told, "Lightning's own tables"
