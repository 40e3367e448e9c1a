"""Errors of Hydra in one line; those of real commands are in tests/cli/test_run.py."""

from __future__ import annotations

import pytest
from hydra.errors import HydraException, MissingConfigException

from gnnsync.errors import ConfigError
from gnnsync.experiments.explain import explain, explain_command


def test_a_search_without_optuna_names_the_package():
    text = (
        "In 'hydra/sweeper/search': Could not find 'hydra/sweeper/optuna'\n\n"
        "Available options in 'hydra/sweeper':\n\tbasic\n\tgnnsync\n\tsearch\nConfig search path:\n"
    )
    message = explain(MissingConfigException(text), [])
    assert message == "hydra/sweeper = optuna: is not installed: pip install 'gnnsync[optuna]'"


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--config-dir=FOLDER", "loss=mine", "loss.knee=1"], "knie"),
        (["-m", "--config-dir", "FOLDER", "loss=mine", "loss.knee=1"], "knie"),
        (["loss=linear", "loss.knee=1"], "max_triangles, norm, tau, variance_weight"),
    ],
)
def test_keys_of_the_chosen_configs_are_listed(tmp_path, arguments, allowed):
    (tmp_path / "loss").mkdir()
    (tmp_path / "loss" / "mine.yaml").write_text("_target_: some.Loss\nknie: 1\n")
    error = HydraException("Could not override 'loss.knee'.\nKey 'knee' is not in struct")
    given = [text.replace("FOLDER", str(tmp_path)) for text in arguments]
    message = explain_command(error, given)
    assert message.startswith("loss.knee: no such key; ")
    assert message.endswith(f"allowed here: {allowed}")


@pytest.mark.parametrize(
    ("swept", "group"), [("loss=linear,upset", "loss"), ("experiment=demo,tune", "experiment")]
)
def test_a_key_of_a_swept_choice_needs_plus_plus(swept, group):
    error = HydraException("Could not override 'loss.tau'.\nKey 'tau' is not in struct")
    assert explain_command(error, ["-m", swept, "loss.tau=1"]) == (
        f"loss.tau: not every {group} may have this key: ++loss.tau=VALUE sets it in all jobs"
    )


def test_an_error_of_ours_stays_as_it_is():
    assert explain_command(ConfigError("trials = 0: must be 1"), ["trials=0"]) == (
        "trials = 0: must be 1"
    )


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("dta.p", "dta.p: no such key as dta; did you mean data?"),
        ("callbacks.mine.every", "no such key as callbacks.mine (+callbacks.mine.every adds a new"),
        ("data.p.q", "data.p.q: no such key (+data.p.q adds a new one)"),
    ],
)
def test_a_key_below_an_unknown_one_names_the_nearest(key, message):
    error = HydraException(f"Could not override '{key}'.\nKey is not in struct")
    assert message in explain_command(error, [f"{key}=1"])


def test_several_values_without_m_name_the_option():
    error = HydraException("Ambiguous value for argument 'data.eta=0.1,0.2'\n1. To use it as ...")
    assert explain_command(error, ["data.eta=0.1,0.2"]).startswith(
        "data.eta=0.1,0.2: several values need -m"
    )
