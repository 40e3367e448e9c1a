import argparse
import json
import logging
import re
import warnings

from gnnsync.cli.terminal import progress
from gnnsync.cli.terminal.progress import (
    messages_on_stderr,
    print_summary,
    reading,
    working,
)
from gnnsync.work import advance, current, plan, stage, time_is_up


def test_reading_prints_its_seconds_when_done(capsys):
    with reading("reading"):
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err.startswith("reading: 0.0")


def test_long_stages_have_a_line_each(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LONG_SECONDS", 0.0)
    with working("solving"):
        plan({"network": 3.0, "fit": 1.0})
        current().began -= 30.0
        with stage("network"):
            pass
        with stage("fit"):
            pass
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"  network: 0\.\d\d s \(75 %, about 10 s left\)", lines[0])
    assert lines[1].startswith("  fit: 0.")
    assert lines[2].startswith("solving: 0.")
    assert current() is None


def test_a_long_stage_says_where_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.0)
    with working("solving"), stage("sweeps"):
        current().began -= 60.0
        capsys.readouterr()
        plan({})
        advance(0.5)
    assert "  sweeps: " in capsys.readouterr().err


def test_short_stages_are_silent(capsys):
    with working("solving"), stage("a"):
        pass
    assert capsys.readouterr().err.count("\n") == 1


def test_the_time_limit_is_passed_on():
    with working("solving", 1e-9):
        assert time_is_up()


def test_warnings_and_log_messages_are_one_line_each(capsys):
    with messages_on_stderr():
        warnings.warn("two\nlines", UserWarning, stacklevel=1)
        logging.getLogger("gnnsync.x").warning("from the log")
        logging.getLogger("gnnsync.x").info("not shown")
    assert capsys.readouterr().err == "warning: two lines\nwarning: from the log\n"


def test_the_summary_goes_where_it_disturbs_nothing(capsys):
    summary, text = {"nodes": 3}, ["nodes 3", "why"]
    print_summary(argparse.Namespace(json=False, output=None), summary, text)
    print_summary(argparse.Namespace(json=False, output="-"), summary, text)
    captured = capsys.readouterr()
    assert captured.out == captured.err == "nodes 3\n\nwhy\n"
    print_summary(argparse.Namespace(json=True, output=None), summary, text)
    assert json.loads(capsys.readouterr().out) == summary
