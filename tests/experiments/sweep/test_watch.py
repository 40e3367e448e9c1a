from __future__ import annotations

import io

import pytest
from rich.console import Console

from gnnsync.experiments.sweep.follow import Follower
from gnnsync.experiments.sweep.plan import Job
from gnnsync.experiments.sweep.standing import Standing
from gnnsync.experiments.sweep.watch import panel, watched
from tests.experiments.sweep.test_follow import fail, succeed


def test_the_panel_fits_in_a_narrow_terminal():
    standing = Standing(200, done=50, failed=1, running=4)
    standing.offer(0.0123, "method=gnnsync data.eta=0.2 " + "long " * 30)
    console = Console(file=io.StringIO(), width=60, force_terminal=False)
    console.print(panel(standing, 125.0))
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 2
    assert all(len(line) <= 60 for line in lines)
    console = Console(file=io.StringIO(), width=120)
    console.print(panel(standing, 125.0))
    text = console.file.getvalue()
    assert "50 of 200 jobs done, 4 running, 1 failed, 145 left; 2 min left" in text
    assert "best MSE 0.0123: method=gnnsync data.eta=0.2" in text


def test_elsewhere_a_line_at_every_tenth(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("gnnsync.experiments.sweep.watch._PAUSE", 0.001)
    jobs = [Job(f"{i:016d}", tmp_path / f"gpm-{i}", (), f"seed={i}") for i in range(40)]
    follower = Follower(jobs, [tmp_path], Standing(40))
    with watched(follower):
        for number, job in enumerate(jobs):
            job.folder.mkdir()
            if number == 7:
                fail(job.folder)
            else:
                succeed(job.folder, job.digest, mse=1.0 - number / 100)
    told = capsys.readouterr().err.splitlines()
    (failure,) = [line for line in told if "failed: " in line]
    assert failure == f"gnnsync: failed: seed=7: no luck ({tmp_path / 'gpm-7' / 'job.log'})"
    assert 1 < len(told) <= 11
    assert told[-1].startswith("gnnsync: 39 of 40 jobs done, 0 running, 1 failed, 0 left; took ")
    assert told[-1].endswith("best MSE 1.22: seed=39")


def test_an_interrupted_sweep_says_how_far_it_came(tmp_path, capsys):
    jobs = [Job(f"{i:016d}", tmp_path / f"gpm-{i}", (), f"seed={i}") for i in range(4)]
    jobs[0].folder.mkdir()
    succeed(jobs[0].folder, jobs[0].digest)
    with pytest.raises(KeyboardInterrupt), watched(Follower(jobs, [tmp_path], Standing(4))):
        raise KeyboardInterrupt
    assert "gnnsync: 1 of 4 jobs done, 0 running, 0 failed, 3 left" in capsys.readouterr().err
