"""Checking a command line before Hydra starts: one-line errors that name key and choices."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gnnsync.experiments.paths import writable_directory
from gnnsync.experiments.settings import ConfigError, build, job_hash


def check_command(overrides: list[str], conf: Path, multirun: bool = False) -> set[Path]:
    """Compose and build the config of a command; every value of a sweep is tried once.

    Returns the folders in which the jobs will write.
    """
    folders = set()
    parsed = _parse(overrides)
    with initialize_config_dir(str(conf), version_base="1.3"):
        if multirun:
            parsed += _parse(_preset_sweep(next(_variants(parsed)), parsed))
        for variant in _variants(parsed):
            cfg = _compose(variant)
            settings, _, _ = build(cfg)
            job_hash(cfg)
            writable_directory(settings.output_dir)
            folders.add(settings.folder)
    return folders


def _parse(overrides: list[str]) -> list[Override]:
    try:
        return OverridesParser.create().parse_overrides(overrides)
    except HydraException as error:
        raise ConfigError(_first_line(error)) from None


def _preset_sweep(first: list[str], given: list[Override]) -> list[str]:
    """The axes that a preset sweeps by itself, less those that the command line sets."""
    cfg = _compose(first, return_hydra_config=True)
    params = OmegaConf.select(cfg, "hydra.sweeper.params") or {}
    named = {override.get_key_element() for override in given}
    return [f"{key}={value}" for key, value in params.items() if key not in named]


def _variants(parsed: list[Override]) -> Iterator[list[str]]:
    """The first point of the sweep, then each further value of each axis with the rest fixed."""
    values = [_values(override) for override in parsed]
    first = [options[0] for options in values]
    yield first
    for axis, options in enumerate(values):
        for option in options[1:]:
            yield [*first[:axis], option, *first[axis + 1 :]]


def _values(override: Override) -> list[str]:
    if not override.is_sweep_override():
        return [override.input_line or ""]
    key = override.get_key_element()
    return [f"{key}={value}" for value in override.sweep_string_iterator()]


def _compose(overrides: list[str], return_hydra_config: bool = False) -> DictConfig:
    try:
        return compose("config", overrides=overrides, return_hydra_config=return_hydra_config)
    except HydraException as error:
        raise ConfigError(_explain(error, overrides)) from None
    except OmegaConfBaseException as error:
        raise ConfigError(_first_line(error)) from None


def _explain(error: HydraException, overrides: list[str]) -> str:
    text = str(error)
    unknown = re.search(r"Could not override '([^']+)'", text)
    if unknown:
        return _unknown_key(unknown.group(1), overrides)
    missing = re.search(r"(?:Could not find|In [^:]*: Could not find) '([^']+)'", text)
    if missing:
        listed = r"Available options in '[^']*':\s*(.*?)(?:\n\n|\Z|Config search)"
        options = re.search(listed, text, re.DOTALL)
        choices = " ".join(options.group(1).split()) if options else ""
        group, _, choice = missing.group(1).rpartition("/")
        return f"{group} = {choice}: must be one of {', '.join(choices.split())}"
    return _first_line(error)


def _unknown_key(key: str, overrides: list[str]) -> str:
    """Name the keys that do exist beside an unknown one, the nearest first."""
    # The choices of groups decide which keys exist.
    groups = [o for o in overrides if "." not in o.split("=")[0] and o.split("=")[0] != key]
    cfg = compose("config", overrides=groups)
    parent, _, name = key.rpartition(".")
    try:
        node = OmegaConf.select(cfg, parent) if parent else cfg
    except OmegaConfBaseException:
        node = None
    if not isinstance(node, DictConfig):
        return f"{key}: no such key"
    names = [str(other) for other in node if not str(other).startswith("_")]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{key}: no such key; {hint}allowed here: {', '.join(sorted(names))}"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
