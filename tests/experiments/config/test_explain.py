"""Errors of Hydra in one line; those of real commands are in tests/cli/test_run.py."""

from __future__ import annotations

import pytest
from hydra.errors import HydraException, MissingConfigException

from gnnsync.errors import ConfigError
from gnnsync.experiments.config.explain import explain, explain_command


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
        (["loss=linear", "loss.knee=1"], "average, max_triangles, norm, tau, variance_weight"),
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
        ("dta.p", "dta.p: no such key; did you mean data.p? (+dta.p=VALUE adds a new one)"),
        ("callbacks.mine.every", "no such key; (+callbacks.mine.every=VALUE adds a new one)"),
        ("data.p.q", "data.p.q: no such key; (+data.p.q=VALUE adds a new one)"),
        (
            "patience",
            "patience: no such key; did you mean callbacks.stopping.patience or protocol.patience?",
        ),
        ("encoder.width", "did you mean model.encoder.width?"),
        ("data.angles.shape", "data.angles.shape: refers to another key; set prior.shape=1"),
        ("method.loss.no", "method.loss.no: no such key"),
    ],
)
def test_a_key_below_an_unknown_one_names_the_nearest(key, message):
    error = HydraException(f"Could not override '{key}'.\nKey is not in struct")
    assert message in explain_command(error, [f"{key}=1"])


def test_several_values_without_m_name_the_option():
    error = HydraException("Ambiguous value for argument 'data.eta=0.1,0.2'\n1. To use it as ...")
    assert explain_command(error, ["data.eta=0.1,0.2"]).startswith(
        "data.eta=0.1,0.2: several values are a sweep: add -m"
    )


def test_long_lists_do_not_hide_a_suggestion():
    error = HydraException("Could not override 'trainer.max_step'.\nKey is not in struct")
    assert explain_command(error, ["trainer.max_step=1"]) == (
        "trainer.max_step: no such key; did you mean trainer.max_steps?"
    )


def test_a_choice_of_an_own_folder_is_suggested(tmp_path):
    (tmp_path / "loss" / "mine").mkdir(parents=True)
    (tmp_path / "loss" / "mine" / "huber.yaml").write_text("_target_: some.Loss\n")
    error = MissingConfigException("In 'config': Could not find 'loss/huber'\n\nConfig search path")
    message = explain_command(error, [f"--config-dir={tmp_path}", "loss=huber"])
    assert message.startswith("loss = huber: did you mean loss=mine/huber? must be one of ")
