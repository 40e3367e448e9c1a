"""The configuration reference is read from the YAML files with their comments."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def reference(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/site")  # as MkDocs does for its hooks
    return importlib.import_module("config_reference")


@pytest.fixture
def write(tmp_path):
    def written(text: str) -> Path:
        path = tmp_path / "choice.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_keys_defaults_and_comments(reference, write):
    text = """\
# What it is.
_target_: package.Class
_partial_: true
width: 8            # columns
name: "a # b"       # text with a number sign
seeds: [1, 2]       # one network each
# In units of σ.
scale: 0.5
inner:              # not a leaf
  _target_: package.Other
  depth: 2          # layers
"""
    choice = reference.read_choice(write(text), "model/encoder")
    assert (choice.about, choice.target) == ("What it is.", "package.Class")
    assert choice.keys == [
        ("model.encoder.width", "8", "columns"),
        ("model.encoder.name", "a # b", "text with a number sign"),
        ("model.encoder.seeds", "[1, 2]", "one network each"),
        ("model.encoder.scale", "0.5", "In units of σ."),
        ("model.encoder.inner", "package.Other", "not a leaf"),
        ("model.encoder.inner.depth", "2", "layers"),
    ]


def test_package_and_defaults(reference, write):
    text = """\
# @package _global_
# A preset:
#   gnnsync run experiment=x
defaults:
  - override /data: ero   # the graph
  - _self_

data:
  p: 0.1
empty: {}   # nothing yet
"""
    choice = reference.read_choice(write(text), "experiment")
    assert choice.about == "A preset: `gnnsync run experiment=x`"
    assert choice.defaults == [("override /data: ero", "the graph"), ("_self_", "")]
    assert choice.keys == [("data.p", "0.1", ""), ("empty", "{}", "nothing yet")]


def test_an_empty_choice(reference, write):
    assert reference.read_choice(write("{}\n"), "logger").keys == []
