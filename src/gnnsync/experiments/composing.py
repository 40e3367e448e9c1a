"""Hydra as a library: which folders of configs there are, parsing, composing, one-line errors."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from hydra import compose, version
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from gnnsync.errors import ConfigError, first_line
from gnnsync.experiments.explain import explain
from gnnsync.experiments.paths import conf_dir

# Our configs of launchers have the names of the plugins' own, so that they come first.
warnings.filterwarnings("ignore", message=r"\s*'hydra/launcher/\w+' is validated against")


@contextmanager
def hydra_configs(extra: str | None = None) -> Iterator[Hydra]:
    """Hydra with our configs and, after them, those of another folder (`--config-dir`)."""
    search_path = create_config_search_path(str(conf_dir()))
    if extra is not None:
        folder = os.path.abspath(extra)
        if not os.path.isdir(folder):
            raise ConfigError(f"--config-dir {extra}: no such folder")
        search_path.prepend("command-line", f"file://{folder}", SearchPathQuery("schema", None))
    version.setbase("1.3")
    try:
        yield Hydra.create_main_hydra2("gnnsync", search_path)
    finally:
        GlobalHydra.instance().clear()


def compose_config(overrides: list[str], with_hydra: bool = False) -> DictConfig:
    """The config that the overrides make."""
    try:
        return compose("config", overrides=overrides, return_hydra_config=with_hydra)
    except HydraException as error:
        raise ConfigError(explain(error, overrides)) from None
    except OmegaConfBaseException as error:
        raise ConfigError(first_line(error)) from None


def parse_overrides(overrides: list[str]) -> list[Override]:
    """The overrides as Hydra understands them."""
    loader = GlobalHydra.instance().config_loader()
    try:
        return OverridesParser.create(config_loader=loader).parse_overrides(overrides)
    except HydraException as error:
        raise ConfigError(first_line(error)) from None


def is_group(key: str) -> bool:
    """Whether there are configs to choose from under this name."""
    # The loader's own method of this name parses all overrides anew at every call.
    repository = GlobalHydra.instance().config_loader().repository  # type: ignore[attr-defined]
    return bool(repository.get_group_options(key, ObjectType.CONFIG))


def merged_files(overrides: list[str]) -> set[tuple[str, str]]:
    """The config files that the overrides bring together, and the key under which each goes."""
    loader = GlobalHydra.instance().config_loader()
    found = loader.compute_defaults_list("config", overrides, RunMode.RUN)
    return {(str(entry.config_path), entry.package or "") for entry in found.defaults}
