"""Composing configs with Hydra, and asking it which groups and files there are.

Everything here but `hydra_configs` needs Hydra to be initialised: within `hydra.main`, or within
`hydra_configs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from gnnsync.errors import ConfigError
from gnnsync.experiments.config.explain import explain, explain_value
from gnnsync.experiments.paths import conf_dir


@contextmanager
def hydra_configs() -> Iterator[None]:
    """Hydra with the configs of gnnsync, for use outside of `gnnsync run`."""
    with initialize_config_dir(str(conf_dir()), job_name="gnnsync", version_base="1.3"):
        yield


def compose_config(overrides: list[str], with_hydra: bool = False) -> DictConfig:
    """The config that the overrides make; a fault is a one-line `ConfigError`."""
    try:
        return compose("config", overrides=overrides, return_hydra_config=with_hydra)
    except HydraException as error:
        raise ConfigError(explain(error, overrides)) from None
    except OmegaConfBaseException as error:
        raise ConfigError(explain_value(error)) from None


def parse_overrides(overrides: list[str]) -> list[Override]:
    """The overrides as Hydra understands them."""
    loader = GlobalHydra.instance().config_loader()
    try:
        return OverridesParser.create(config_loader=loader).parse_overrides(overrides)
    except HydraException as error:
        raise ConfigError(explain(error, overrides)) from None


def is_group(key: str) -> bool:
    """Whether there are configs to choose from under this name."""
    return bool(GlobalHydra.instance().config_loader().get_group_options(key))


def merged_files(overrides: list[str]) -> set[tuple[str, str]]:
    """The config files that the overrides bring together, and the key under which each goes."""
    loader = GlobalHydra.instance().config_loader()
    found = loader.compute_defaults_list("config", overrides, RunMode.RUN)
    return {(str(entry.config_path), entry.package or "") for entry in found.defaults}
