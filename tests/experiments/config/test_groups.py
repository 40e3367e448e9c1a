"""Groups are read from folders; Hydra's own list of them is the reference."""

from __future__ import annotations

import pytest
from hydra.core.global_hydra import GlobalHydra

from gnnsync.experiments.config.composing import hydra_configs
from gnnsync.experiments.config.groups import Groups


def test_groups_are_those_of_hydra():
    groups = Groups.of()
    with hydra_configs():
        loader = GlobalHydra.instance().config_loader()
        for group, choices in groups.choices.items():
            listed = loader.get_group_options(group)
            assert {choice for choice in choices if "/" not in choice} <= set(listed), group
    assert {"data", "data/angles", "model/encoder", "hydra/launcher"} < set(groups.choices)
    assert not {"", "model", "hydra", "experiment/paper"} & set(groups.choices)
    assert "paper/main_k1" in groups.choices["experiment"]
    assert not [choice for choice in groups.choices["data"] if choice.startswith("angles")]


def test_a_further_folder_adds_choices_and_groups(tmp_path):
    for name in ("loss/huber", "probe/one", "model/head/wide"):
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a: 1\n")
    choices = Groups.of([tmp_path]).choices
    assert {"huber", "cycle"} < set(choices["loss"])
    assert choices["probe"] == ("one",)
    assert choices["model/head"] == ("wide",)


@pytest.mark.parametrize(
    ("group", "choice", "meant"),
    [
        ("experiment", "main_k1", "experiment=paper/main_k1"),
        ("experiment", "fast", "debug=fast"),
        ("data", "gamma", "data/angles=gamma"),
        ("model", "magnet", "model/encoder=magnet"),
        ("method", "irsl", "method=irls"),
        ("method", "zzz", None),
    ],
)
def test_what_was_probably_meant(group, choice, meant):
    assert Groups.of().suggestion(group, choice) == meant


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("experiment/paper/main_kx", ("experiment", "paper/main_kx")),
        ("data/angles/x", ("data/angles", "x")),
        ("model/magnet", ("model", "magnet")),
    ],
)
def test_a_path_is_a_group_and_a_choice(path, parts):
    assert Groups.of().split(path) == parts
