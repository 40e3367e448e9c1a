"""Labels of a job: its method, the parameters that differ from the default, its override line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict

from gnnsync.experiments.job.hashing import computing, method_name, resolved
from gnnsync.experiments.paths import conf_dir
from gnnsync.results.files import reproducing
from gnnsync.results.outcome import Label

# Budget, device and callbacks are columns of a row; in a label they would hide the rest.
_UNLABELLED = ("trainer", "callbacks")
# The group of options in which paper, released code and repairs differ: its name stands for them.
_PROTOCOL = "protocol"
# Parameters that rows always have, since the paper's studies vary them.
_ALWAYS = ("loss.", "model.steps.")


def label_of(cfg: DictConfig) -> Label:
    """The label of a composed config; the chosen names are known only within a Hydra run."""
    config, parts = resolved(cfg), _parts(cfg)
    chosen = dict(HydraConfig.get().runtime.choices) if HydraConfig.initialized() else {}
    method = str(chosen.get("method") or method_name(config["method"]["_target_"]))
    named = {p: str(chosen[_group(p)]) for p in parts.values() if chosen.get(_group(p))}
    values = _values(config, parts)
    protocol = str(chosen.get(_PROTOCOL) or config[_PROTOCOL]["name"])
    chosen_method = (f"method={method}", f"{_PROTOCOL}={protocol}")
    own, usual = _default(chosen_method) or ({}, {})
    other = {p: name for p, name in named.items() if name != usual.get(_group(p))}
    choices = tuple(f"{_group(place)}={name}" for place, name in other.items())
    if other:
        own, _ = _default((*chosen_method, *choices)) or ({}, {})
    changed = _changed(values, parts, own)
    labels = _protocol_label(protocol, own, parts, (f"method={method}", *choices)) | other | changed
    if not config["fit"]:
        labels["fit"] = False
    columns = {_PROTOCOL: protocol}
    columns |= {place: values[place] for place in parts.values() if place in values} | named
    columns |= {k: v for k, v in values.items() if k.startswith(_ALWAYS) or k in changed}
    return Label(
        method,
        " ".join([method, *(f"{_short(k)}={_text(v)}" for k, v in _labelled(labels).items())]),
        {key: _cell(value) for key, value in columns.items() if key not in _UNLABELLED},
        reproducing(list(HydraConfig.get().overrides.task)) if chosen else None,
    )


def _parts(cfg: DictConfig) -> dict[str, str]:
    """Keys of the method's config that refer to another, and where it is (`model.encoder`)."""
    raw = OmegaConf.to_container(cfg.method, resolve=False)
    assert isinstance(raw, dict)
    found = {
        str(k): re.fullmatch(r"\$\{([\w.]+)\}", v) for k, v in raw.items() if isinstance(v, str)
    }
    places = {key: match.group(1) for key, match in found.items() if match}
    return {key: place for key, place in places.items() if not place.startswith(f"{_PROTOCOL}.")}


def _protocol_label(
    protocol: str, own: dict[str, Any], parts: dict[str, str], choices: tuple[str, ...]
) -> dict[str, Any]:
    """The protocol, if the method is not the same under the default one."""
    usual, _ = _default(choices) or ({}, {})
    differs = bool(own) and bool(_changed(_values(own, parts), parts, usual))
    return {_PROTOCOL: protocol} if differs else {}


def _values(config: dict[str, Any], parts: dict[str, str]) -> dict[str, Any]:
    """All parameters of a method, classes of its parts included, by the keys that set them."""
    found: dict[str, Any] = {}
    for key, value in computing(config["method"]).items():
        if key != "_target_":
            found.update(_flat(parts.get(key, f"method.{key}"), value))
    return found


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield key, value
        return
    for name, child in value.items():
        if name == "_target_":
            yield key, child
        elif name not in ("_partial_", "_convert_"):
            yield from _flat(f"{key}.{name}", child)


def _changed(
    values: dict[str, Any], parts: dict[str, str], config: dict[str, Any]
) -> dict[str, Any]:
    """The parameters that are not what the default `config` of the method and its parts says."""
    if not config:  # nothing to differ from
        return {}
    default = _values(config, parts)
    changed = {key: v for key, v in values.items() if key not in default or default[key] != v}
    # A part of another class has other parameters: its name says enough.
    other = tuple(f"{place}." for place in parts.values() if place in changed)
    return {key: v for key, v in changed.items() if not key.startswith(other)}


def _labelled(labels: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in labels.items() if k.partition(".")[0] not in _UNLABELLED}


@lru_cache(maxsize=256)
def _default(overrides: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, str]] | None:
    """The default config of a method and its parts, and the choices of groups that it is made of.

    None if it cannot be composed.
    """
    try:
        if GlobalHydra.instance().is_initialized():  # with the user's own folders of configs
            cfg = compose("config", list(overrides), return_hydra_config=True)
        else:
            with initialize_config_dir(str(conf_dir()), version_base="1.3"):
                cfg = compose("config", list(overrides), return_hydra_config=True)
    except HydraException:
        return None
    choices = {str(k): str(v) for k, v in cfg.hydra.runtime.choices.items()}
    with open_dict(cfg):
        del cfg["hydra"]
    return resolved(cfg), choices


def _group(place: str) -> str:
    return place.replace(".", "/")


def _short(key: str) -> str:
    """`tau` for `loss.tau`; what the encoder and others have in common keeps the part's name."""
    key = key.removeprefix("model.")
    part, _, name = key.partition(".")
    return name if name and part in ("loss", "steps", "method") else key


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return text.rpartition(".")[2] if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", text) else text


def _cell(value: Any) -> Any:
    """A value that fits in one cell of a table."""
    return value if isinstance(value, bool | int | float | None) else _text(value)
