"""Every choice of every group composes and builds; code and configs cannot drift apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnnsync.experiments.config.building import build
from gnnsync.experiments.paths import conf_dir
from gnnsync.methods import METHODS
from gnnsync.solve import LEARNED

CONF = conf_dir()


def choices(group: str) -> list[str]:
    folder = CONF / group
    return sorted(str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.yaml"))


# `angles` lives below `data` but is a group of its own; the bases are not choices by themselves.
BASES = {"synthetic", "localization"}
SWAPPABLE = [
    (group, choice)
    for group in (
        "data/angles",
        "method",
        "model/features",
        "model/encoder",
        "model/steps",
        "loss",
        "optimizer",
        "scheduler",
        "stream",
        "trainer",
        "callbacks",
        "anchors",
        *(f"localization/{step.name}" for step in sorted((CONF / "localization").iterdir())),
        "logger",
        "experiment",
        "debug",
    )
    for choice in choices(group)
] + [("data", c) for c in choices("data") if c not in BASES and not c.startswith("angles")]


# Choices of the groups that only the training of the inductive network uses.
INDUCTIVE = {("trainer", "inductive"), ("trainer", "ddp"), ("stream", "mixed")}


@pytest.mark.parametrize(("group", "choice"), SWAPPABLE)
def test_choice_builds(composed, group, choice, tmp_path):
    extra: list[str] = []
    small = [f"{group}={choice}"]
    if (group, choice) in INDUCTIVE:
        extra = ["method=gnnsync_inductive_training"]
    elif (group, choice) == ("anchors", "file"):
        extra = [f"anchors.path={tmp_path / 'known.csv'}"]
    elif (group, choice) == ("data", "points"):
        extra = [f"data.path={_cloud(tmp_path)}"]
    elif (group, choice) == ("data", "file"):
        extra = [f"data.path={_offsets(tmp_path)}"]
    if group.startswith("localization/"):
        small += ["data=distances"]
    cities = ("us_cities", "pacm", "maps", "localization")
    maps = group.startswith("localization/")
    maps |= group == "experiment" and choice.endswith(cities)
    if maps or (group == "data" and choice not in ("ero", "bao", "rggo")):
        from hydra import compose, initialize_config_dir

        with initialize_config_dir(str(CONF), version_base="1.3"):
            cfg = compose("config", overrides=[*small, *extra])
    else:
        cfg = composed(*small, *extra)
    build(cfg)


def test_every_method_has_a_config_and_back():
    plain = {choice for choice in choices("method") if not choice.startswith("refined/")}
    # One makes weights for a method, the other gives known angles to any.
    others = {"gnnsync_inductive_training", "anchored"}
    assert plain - others == {*METHODS, *LEARNED}


def test_a_refined_method_is_the_method_with_as_many_steps_as_gnnsync(composed):
    for choice in choices("method"):
        if choice.startswith("refined/"):
            method = composed(f"method={choice}").method
            plain = composed(f"method={choice.removeprefix('refined/')}").method
            assert method.refine == composed().model.steps.count
            assert {**method, "refine": 0} == plain


def test_every_method_that_does_not_train_can_be_the_features():
    trained_once = {"gnnsync_inductive"}
    assert set(choices("model/features")) == {*METHODS, *trained_once, "random", "degree"}


def _cloud(folder: Path) -> Path:
    path = folder / "points.csv"
    path.write_text("\n".join(f"{i % 9},{i // 9}" for i in range(81)))
    return path


def _offsets(folder: Path) -> Path:
    path = folder / "offsets.csv"
    path.write_text("a,b,0.5\nb,c,1.0\na,c,1.5\n")
    return path
