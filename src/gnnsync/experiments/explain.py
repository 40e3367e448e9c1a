"""Hydra's errors in one line that names the key and what is allowed."""

from __future__ import annotations

import difflib
import os
import re

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, OverrideParseException, SearchPathException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gnnsync.errors import first_line
from gnnsync.experiments.moved_keys import moved
from gnnsync.experiments.paths import conf_dir


def explain_command(error: Exception, arguments: list[str]) -> str:
    """What is wrong with the arguments of a command; for errors that have left `hydra.main`."""
    if not isinstance(error, HydraException):
        return first_line(error)
    folder = _config_dir(arguments)
    if isinstance(error, SearchPathException) and folder is not None:
        return f"--config-dir {folder}: no such folder"
    own = [] if folder is None else [f"hydra.searchpath=['file://{os.path.abspath(folder)}']"]
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return explain(error, [*own, *_overrides(arguments)])


def explain(error: HydraException, overrides: list[str]) -> str:
    """What is wrong with the overrides that made Hydra raise `error`."""
    if isinstance(error, OverrideParseException):
        return f"{error.override}: {first_line(error)}"
    text = str(error)
    several = re.search(r"Ambiguous value for argument '([^']+)'", text)
    if several:
        return f"{several.group(1)}: several values need -m, a sweep; a list is written as [a,b]"
    unknown = re.search(r"Could not override '([^']+)'", text)
    if unknown:
        return _unknown_key(unknown.group(1), overrides)
    missing = re.search(r"(?:Could not find|In [^:]*: Could not find) '([^']+)'", text)
    if missing:
        listed = r"Available options in '[^']*':\s*(.*?)(?:\n\n|\Z|Config search)"
        options = re.search(listed, text, re.DOTALL)
        choices = " ".join(options.group(1).split()) if options else ""
        group, _, choice = missing.group(1).rpartition("/")
        if (group, choice) == ("hydra/sweeper", "optuna"):
            return "hydra/sweeper = optuna: is not installed: pip install 'gnnsync[optuna]'"
        return f"{group} = {choice}: must be one of {', '.join(choices.split())}"
    return first_line(error)


def _unknown_key(key: str, overrides: list[str]) -> str:
    """Name the new place of a key that has moved, or the keys beside an unknown one."""
    if (place := moved(key)) is not None:
        return place
    parent, _, name = key.rpartition(".")
    try:
        parsed = OverridesParser.create().parse_overrides(overrides)
        if (group := _swept_group(parsed, key)) is not None:
            return f"{key}: not every {group} may have this key: ++{key}=VALUE sets it in all jobs"
        cfg = compose("config", overrides=_choices(parsed, key))
        node = OmegaConf.select(cfg, parent) if parent else cfg
    except (HydraException, OmegaConfBaseException):
        return f"{key}: no such key"
    if not isinstance(node, DictConfig):
        return _unknown_parent(key, cfg)
    names = [str(other) for other in node if not str(other).startswith("_")]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{key}: no such key; {hint}allowed here: {', '.join(sorted(names))}"


def _unknown_parent(key: str, cfg: DictConfig) -> str:
    """Name the nearest key at the place where a dotted key leaves the config."""
    node = cfg
    known: list[str] = []
    for part in key.split("."):
        if part not in node:
            near = difflib.get_close_matches(part, [str(name) for name in node], n=1)
            place = ".".join([*known, part])
            hint = f"; did you mean {'.'.join([*known, near[0]])}?" if near else ""
            return f"{key}: no such key as {place}{hint} (+{key} adds a new one)"
        known.append(part)
        child = node[part]
        if not isinstance(child, DictConfig):
            break
        node = child
    return f"{key}: no such key (+{key} adds a new one)"


def _swept_group(overrides: list[Override], key: str) -> str | None:
    """The group with swept choices that a key belongs to; Hydra first composes without them."""
    for override in overrides:
        group = override.key_or_group
        inside = key.startswith(f"{group.replace('/', '.')}.")
        if override.is_sweep_override() and (inside or group == "experiment"):
            return group
    return None


def _choices(overrides: list[Override], key: str) -> list[str]:
    """The overrides that decide which keys exist: choices of groups that are not swept."""
    return [
        override.input_line or ""
        for override in overrides
        if not override.is_sweep_override()
        and override.key_or_group != key
        and ("." not in override.key_or_group or override.key_or_group == "hydra.searchpath")
    ]


def _overrides(arguments: list[str]) -> list[str]:
    return [text for text in arguments if "=" in text and not text.startswith("-")]


def _config_dir(arguments: list[str]) -> str | None:
    """The folder given with `--config-dir FOLDER` or `--config-dir=FOLDER`."""
    for option, following in zip(arguments, [*arguments[1:], None], strict=True):
        name, equals, value = option.partition("=")
        if name in ("--config-dir", "-cd"):
            return value if equals else following
    return None
