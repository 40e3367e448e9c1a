"""Hydra's errors in one line that names the key and what is allowed."""

from __future__ import annotations

import difflib
import re

from hydra import compose
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gnnsync.errors import first_line


def explain(error: HydraException, overrides: list[str]) -> str:
    """What is wrong with the overrides that made Hydra raise `error`."""
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
        if (group, choice) == ("hydra/sweeper", "optuna"):
            return "hydra/sweeper = optuna: is not installed: pip install 'gnnsync[optuna]'"
        return f"{group} = {choice}: must be one of {', '.join(choices.split())}"
    return first_line(error)


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
