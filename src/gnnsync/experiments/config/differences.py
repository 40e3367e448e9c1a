"""What in the config of a run differs from the default config."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from omegaconf import OmegaConf

from gnnsync.experiments.config.composing import compose_config, hydra_configs


def differences(config: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """By key: the value in `config` and the default; None where one of them has no such key.

    Parts that the default config only refers to, as `method.encoder` to `model.encoder`, are
    compared where they are. A value that it refers to, as `data.orientation` to
    `protocol.orientation`, is compared with the value that the run has there.

    Args:
        config: resolved, as in a job's `config.yaml`; without loggers.
    """
    with hydra_configs():
        plain = OmegaConf.to_container(compose_config([]), resolve=False)
    assert isinstance(plain, dict)
    default = {str(key): value for key, value in plain.items() if key != "logger"}
    own, usual = dict(_flat(config)), dict(_flat(default))
    references = {key for key, value in usual.items() if isinstance(value, str) and "${" in value}
    for key in references & own.keys():
        place = usual[key].removeprefix("${").removesuffix("}")
        if place in usual:
            usual[key] = own.get(place, usual[place])
            references.discard(key)
    return {
        key: (own.get(key), usual.get(key))
        for key in dict.fromkeys([*own, *usual])
        if own.get(key) != usual.get(key) and not _inside(key, references)
    }


def _flat(tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, child in tree.items():
        if isinstance(child, dict) and child:
            yield from _flat(child, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", child


def _inside(key: str, places: set[str]) -> bool:
    return any(key == place or key.startswith(f"{place}.") for place in places)
