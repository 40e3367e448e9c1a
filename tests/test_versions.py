"""Ranges of pyproject.toml exclude known bad versions, and hold what is pinned and installed."""

import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RANGES = {canonicalize_name(r.name): r for r in map(Requirement, PROJECT["dependencies"])}
PINS = {
    canonicalize_name(line.split("==")[0]): line.split("==")[1].strip()
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line and not line.startswith("#")
}


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("hydra-core", "1.3.5"),
        ("pytorch-lightning", "2.5.6"),  # Trainer.fit has no weights_only
        ("pytorch-lightning", "2.6.2"),
        ("pytorch-lightning", "2.6.3"),
        ("torch", "2.5.1"),
        ("pyarrow", "14.0.0"),
    ],
)
def test_known_bad_versions_are_excluded(name, bad):
    assert bad not in RANGES[name].specifier


@pytest.mark.parametrize("name", sorted(RANGES))
def test_pinned_and_installed_versions_are_in_the_range(name):
    assert PINS[name] in RANGES[name].specifier
    assert version(name) in RANGES[name].specifier


def test_the_trainer_has_what_is_called():
    from pytorch_lightning import Trainer

    fit, test = (set(inspect.signature(f).parameters) for f in (Trainer.fit, Trainer.test))
    assert {"datamodule", "ckpt_path", "weights_only"} <= fit
    assert {"datamodule", "verbose"} <= test
