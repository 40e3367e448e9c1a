import pytest
from omegaconf import OmegaConf

from gnnsync.errors import ConfigError
from gnnsync.experiments.config.moved_keys import MOVED_KEYS, moved, refuse_moved_keys


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("trainer.patience", "callbacks.stopping.patience"),
        ("trainer.options.max_time", "trainer.max_time"),
        ("method.training.max_steps", "trainer.max_steps"),
        ("logger.mode", "logger.wandb.mode"),
    ],
)
def test_the_new_place_is_named(key, place):
    assert moved(key).startswith(f"{key}: is now {place}")


@pytest.mark.parametrize("key", ["trainer.max_steps", "trainer.patience2", "logger.csv.name", "x"])
def test_other_keys_have_not_moved(key):
    assert moved(key) is None


def test_no_key_of_the_config_has_moved(composed):
    refuse_moved_keys(composed())


@pytest.mark.parametrize("key", MOVED_KEYS)
def test_an_old_key_in_a_config_is_refused(key):
    cfg = OmegaConf.create()
    OmegaConf.update(cfg, key, 1, force_add=True)
    with pytest.raises(ConfigError, match="is now"):
        refuse_moved_keys(cfg)
