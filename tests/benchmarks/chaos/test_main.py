"""All attacks by one command: at full size for a night, and in two minutes."""

from __future__ import annotations

import importlib
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.chaos.__main__ import PROMISES, Promise, all_of_them

ROOT = Path(__file__).resolve().parents[3]


def chaos(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.chaos", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("name", PROMISES)
def test_every_attack_has_a_module(name):
    assert callable(importlib.import_module(f"benchmarks.chaos.{name}").main)


def test_the_page_has_the_full_size_of_every_attack():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    for name in PROMISES:
        assert re.search(rf"^python -m benchmarks\.chaos {name}", page, re.MULTILINE), name


def test_an_unknown_attack_is_answered_by_the_list():
    done = chaos("nothing")
    assert done.returncode == 1
    assert all(f"  {name} " in done.stderr for name in PROMISES)


def test_a_broken_promise_is_named_and_the_others_go_on(capsys):
    broken = {
        "adversary": Promise("", short=("--networks", "no number")),
        "files": Promise("", short=("--count", "3")),
    }
    assert all_of_them(broken, short=True)
    told = capsys.readouterr().out
    assert "python -m benchmarks.chaos files --count 3\n" in told
    assert "3 files, 0 not fine" in told
    assert told.endswith("broken: adversary\n")
    assert not all_of_them({"files": broken["files"]}, short=True)
    assert capsys.readouterr().out.endswith("broken: none\n")


@pytest.mark.slow
def test_the_short_run_breaks_no_promise_in_two_minutes():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = chaos("--short")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("broken: none\n")
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 120
