from __future__ import annotations

from collections.abc import Callable

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from gnnsync.experiments.paths import conf_dir

SMALL = ["data.n=30", "data.p=0.4", "data.eta=0.2", "debug=fast"]


@pytest.fixture
def composed() -> Callable[..., DictConfig]:
    """Compose the real config with overrides on top of a small job."""

    def make(*overrides: str) -> DictConfig:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            return compose("config", overrides=[*SMALL, *overrides])

    return make
