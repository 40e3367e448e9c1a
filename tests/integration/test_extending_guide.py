"""The guides to extending and to callbacks are followed to the letter: files and commands."""

from __future__ import annotations

import json
import logging
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.command import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE, CALLBACKS = ((DOCS / name).read_text() for name in ("extending.md", "callbacks.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Each file's block has its path in a comment, which stays in the file.
PATH = re.compile(r"^# ([\w/]+\.(?:py|yaml))$", re.MULTILINE)
PREFIX = "PYTHONPATH=. gnnsync "


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with every file that the guides show, pasted as it stands."""
    for language, text in BLOCK.findall(GUIDE) + BLOCK.findall(CALLBACKS):
        if language in ("python", "yaml"):
            path = tmp_path / PATH.search(text).group(1)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    loaded, handlers = set(sys.modules), logging.getLogger().handlers[:]
    yield tmp_path
    logging.getLogger().handlers[:] = handlers
    for module in set(sys.modules) - loaded:
        if (tmp_path / f"{module}.py").exists():
            del sys.modules[module]


def commands(guide: str) -> list[list[str]]:
    lines = [
        line for lang, text in BLOCK.findall(guide) if lang == "bash" for line in text.split("\n")
    ]
    assert all(line.startswith(PREFIX) for line in lines if line)
    return [shlex.split(line.removeprefix(PREFIX)) for line in lines if line]


def rows(folder: Path) -> list[dict]:
    found = [json.loads(path.read_text())["rows"] for path in folder.rglob("result.json")]
    return [row for job in found for row in job]


def test_every_command_of_the_guide_does_what_it_says(project, capsys):
    for command in commands(GUIDE):
        assert main(command) == 0, (command, capsys.readouterr().err)
    found = rows(project)
    tree = [row for row in found if row["method"] == "spanning_tree"]
    exact = [row for row in tree if row["data.eta"] == 0]
    assert exact
    assert all(row["mse"] < 1e-9 for row in exact)
    assert {row.get("model.encoder") for row in found} >= {"mean"}
    logs = [path.read_text() for path in project.rglob("job.log")]
    assert any("gradient_watch: step 20: loss" in log for log in logs)
    assert {row.get("loss") for row in found} >= {"huber", "upset"}
    rings = [row for row in rows(project / "outputs" / "rings") if row["data.n"] == 40]
    assert len(rings) == 3 * 3 * 2
    noisy = {row["method"]: row["mse"] for row in rings if row["data.eta"] == 0.2}
    assert noisy["irls"] < noisy["spanning_tree"]


def test_every_command_of_the_guide_to_callbacks_does_what_it_says(project, capsys):
    for command in commands(CALLBACKS):
        assert main(command) == 0, (command, capsys.readouterr().err)
    files = list(project.rglob("mse.csv"))
    assert len(files) == 2
    for path in files:
        step, mse = path.read_text().split(",")
        (row,) = json.loads((path.parent / "result.json").read_text())["rows"]
        assert int(step) == row["steps"] == 20
        assert 0 <= float(mse) <= 4


def test_a_value_that_the_new_loss_does_not_allow_names_its_key(project, capsys):
    assert main(["run", "--config-dir", "conf", "loss=huber", "loss.knee=-1"]) == 2
    assert "gnnsync: loss.knee = -1: must be" in capsys.readouterr().err


def test_a_missing_folder_of_configs_is_one_line(project, capsys):
    assert main(["run", "--config-dir", "nowhere", "loss=upset"]) == 2
    assert capsys.readouterr().err == "gnnsync: --config-dir nowhere: no such folder\n"
