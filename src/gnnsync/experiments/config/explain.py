"""Hydra's errors in one line that names the key, what is allowed, and what was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, OverrideParseException, SearchPathException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from gnnsync.errors import first_line, one_line
from gnnsync.experiments.config.arguments import config_dirs, overrides_in
from gnnsync.experiments.config.groups import Groups
from gnnsync.experiments.config.moved_keys import moved
from gnnsync.experiments.paths import conf_dir

# Names that are listed beside a suggestion; more would hide it.
_LISTED = 12


def explain_command(error: Exception, arguments: list[str]) -> str:
    """What is wrong with the arguments of a command; for errors that have left `hydra.main`."""
    if not isinstance(error, HydraException):
        return explain_value(error) if isinstance(error, OmegaConfBaseException) else str(error)
    folders = config_dirs(arguments)
    if isinstance(error, SearchPathException) and folders:
        return f"--config-dir {folders[0]}: no such folder"
    own = [f"hydra.searchpath=['file://{folder.resolve()}']" for folder in folders]
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return explain(error, [*own, *overrides_in(arguments)], folders)


def explain(
    error: HydraException, overrides: list[str], folders: Iterable[Path] | None = None
) -> str:
    """What is wrong with the overrides that made Hydra raise `error`.

    Args:
        error: as Hydra raised it.
        overrides: all of them.
        folders: those with configs beside the package's; those of Hydra's search path by default.
    """
    if isinstance(error, OverrideParseException):
        return f"{error.override}: {first_line(error)}"
    text = str(error)
    several = re.search(r"Ambiguous value for argument '([^']+)'", text)
    if several:
        return f"{several.group(1)}: several values are a sweep: add -m; a list is written as [a,b]"
    if "Sweep parameters" in text and (swept := re.search(r"'([^']+)'", text)):
        return f"{swept.group(1)}: several values are a sweep: add -m"
    groups = Groups.of(_search_folders() if folders is None else folders)
    unknown = re.search(r"Could not override '([^']+)'", text)
    if unknown:
        return _unknown_key(unknown.group(1), overrides, groups)
    missing = re.search(r"(?:Could not find|In [^:]*: Could not find) '([^']+)'", text)
    if missing:
        return _unknown_choice(missing.group(1), text, groups)
    return first_line(error)


def explain_value(error: OmegaConfBaseException) -> str:
    """What is wrong with a value of a composed config."""
    if isinstance(error, MissingMandatoryValue) and (key := error.full_key):
        value = "FILE" if key.endswith("path") else "VALUE"
        return f"{key}: is not set, and has no default: add {key}={value}"
    return one_line(error, "; ")


def _search_folders() -> list[Path]:
    """The folders in which Hydra looks for configs, those of packages left out."""
    if not GlobalHydra.instance().is_initialized():
        return []
    entries = GlobalHydra.instance().config_loader().get_search_path().get_path()
    paths = [entry.path for entry in entries if entry.path.startswith("file://")]
    return [Path(path.removeprefix("file://")) for path in paths]


def _unknown_choice(path: str, text: str, groups: Groups) -> str:
    """Name the choices of a group, and a choice or a group that was probably meant."""
    group, choice = groups.split(path)
    if (group, choice) == ("hydra/sweeper", "optuna"):
        return "hydra/sweeper = optuna: is not installed: pip install 'gnnsync[optuna]'"
    listed = r"Available options in '[^']*':\s*(.*?)(?:\n\n|\Z|Config search)"
    options = re.search(listed, text, re.DOTALL)
    # Hydra lists the choices of packages too, such as launchers; those in folders it leaves out.
    found = {*(options.group(1).split() if options else ()), *groups.choices.get(group, ())}
    meant = groups.suggestion(group, choice)
    hint = f"did you mean {meant}? " if meant else ""
    return f"{group} = {choice}: {hint}must be one of {', '.join(sorted(found))}"


def _unknown_key(key: str, overrides: list[str], groups: Groups) -> str:
    """Name the new place of a key that has moved, the key that was meant, or those beside it."""
    if (place := moved(key)) is not None:
        return place
    try:
        parsed = OverridesParser.create().parse_overrides(overrides)
    except HydraException:
        return f"{key}: no such key"
    if (group := _swept_group(parsed, key)) is not None:
        return f"{key}: not every {group} may have this key: ++{key}=VALUE sets it in all jobs"
    value = next((str(o.value()) for o in parsed if o.key_or_group == key), "")
    if called := groups.called(key.rpartition("/")[2]):
        return f"{key}: no such key; did you mean {called[0]}={value}?"
    if below := [group for group in groups.choices if group.startswith(f"{key}/")]:
        meant = groups.suggestion(key, value)
        hint = f"did you mean {meant}? " if meant else ""
        return f"{key}: no such group; {hint}there are {', '.join(below)}"
    try:
        cfg = compose("config", overrides=_choices(parsed, key))
    except (HydraException, OmegaConfBaseException):
        return f"{key}: no such key"
    place = _referred(key, cfg)
    if place is not None and OmegaConf.select(cfg, place) is not None:
        return f"{key}: refers to another key; set {place}={value}"
    return _nearest_key(key, cfg)


def _referred(key: str, cfg: DictConfig) -> str | None:
    """The key that a dotted key stands for, where one of its words is a reference `${...}`."""
    node, words = OmegaConf.to_container(cfg, resolve=False), key.split(".")
    for number, word in enumerate(words):
        if not isinstance(node, dict) or word not in node:
            return None
        node = node[word]
        reference = re.fullmatch(r"\$\{([\w.]+)\}", node) if isinstance(node, str) else None
        if reference:
            return ".".join([reference.group(1), *words[number + 1 :]])
    return None


def _nearest_key(key: str, cfg: DictConfig) -> str:
    """Name the key of a config that was probably meant, and those beside it if they are few."""
    parent, _, name = key.rpartition(".")
    plain = OmegaConf.to_container(cfg, resolve=False)
    places = list(_places(plain))
    node = OmegaConf.select(cfg, parent) if parent else cfg
    beside = [str(other) for other in node] if isinstance(node, DictConfig) else []
    names = sorted(other for other in beside if not other.startswith("_"))
    near = [f"{parent}.{other}" if parent else other for other in _alike(name, names)]
    inside = [place for place in places if place.endswith(f".{key}")]
    meant = near or inside or [place for place in places if _slips(key, place)][:1]
    if meant and len(names) > _LISTED:
        return f"{key}: no such key; did you mean {_or(meant)}?"
    hint = f"did you mean {_or(meant)}? " if meant else ""
    if not names:
        return f"{key}: no such key; {hint}(+{key}=VALUE adds a new one)"
    return f"{key}: no such key; {hint}allowed here: {', '.join(names)}"


def _places(tree: Any, prefix: str = "") -> Iterator[str]:
    """Every dotted key of a config."""
    if isinstance(tree, dict):
        for name, child in tree.items():
            if not str(name).startswith("_"):
                yield f"{prefix}{name}"
                yield from _places(child, f"{prefix}{name}.")


def _alike(word: str, others: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(word, list(others), n=1)


def _slips(key: str, place: str) -> bool:
    """Whether every word of a dotted key is, or resembles, that of another key: `dta.p`."""
    words, others = key.split("."), place.split(".")
    return len(words) == len(others) > 1 and all(
        one == other or bool(_alike(one, [other])) for one, other in zip(words, others, strict=True)
    )


def _or(names: list[str]) -> str:
    return " or ".join(names[:3])


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
