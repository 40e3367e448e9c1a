"""The grid of a sweep, and the config at each point, without composing every one by Hydra."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf, open_dict

from gnnsync.experiments.config.composing import (
    compose_config,
    is_group,
    merged_files,
    parse_overrides,
)
from gnnsync.experiments.job.hashing import resolved

_REFERENCE = re.compile(r"\$\{([\w.]+)\}")


@dataclass(frozen=True)
class Axis:
    """One override and the values that it takes in a sweep.

    Args:
        key: as written, with `+` or `~`.
        texts: the override with each value.
        values: the values themselves; None if only Hydra can apply them: choices of groups, lists,
            dictionaries.
        is_choice: a choice of a group, which applies before all that sets values.
        endless: an interval, represented by its start; for sweepers that search.
    """

    key: str
    texts: tuple[str, ...]
    values: tuple[str | int | float | bool | None, ...] | None = None
    is_choice: bool = False
    endless: bool = False

    @classmethod
    def of(cls, override: Override) -> Axis:
        """The values that an override sweeps over, or its only one."""
        key = override.get_key_element()
        group = is_group(override.key_or_group)
        if not override.is_sweep_override():
            is_choice = group and isinstance(override.value(), str | None)
            return cls(key, (override.input_line or "",), is_choice=is_choice)
        if not override.is_discrete_sweep():
            return cls(key, (f"{key}={override.value().start}",), endless=True)  # type: ignore[union-attr]
        texts = tuple(f"{key}={value}" for value in override.sweep_string_iterator())
        values = tuple(option.value() for option in parse_overrides(list(texts)))
        if group and all(isinstance(value, str | None) for value in values):
            return cls(key, texts, is_choice=True)
        if all(_is_single(value) for value in values):
            return cls(key, texts, values)  # type: ignore[arg-type]
        return cls(key, texts)

    @property
    def place(self) -> str:
        """The key without `+` and `~`."""
        return self.key.lstrip("+~")


@dataclass
class Grid:
    """The product of axes, and the config at each of its points.

    Hydra takes a tenth of a second to compose a config, and a sweep has thousands. Only the points
    that differ from the first in one choice of a group are composed by Hydra. The others are put
    together from these, if the choices write in separate parts of the config; if not, Hydra
    composes every combination of choices. Single values are then set as Hydra would do.

    Args:
        axes: in the order in which the overrides apply.
        hydra_overrides: overrides of Hydra's own config, the same for every job.
    """

    axes: list[Axis]
    hydra_overrides: list[str] = field(default_factory=list)
    _composed: dict[tuple[int, ...], DictConfig] = field(default_factory=dict, repr=False)
    _templates: dict[tuple[int, ...], Any] = field(default_factory=dict, repr=False)
    _computes: bool = field(default=False, repr=False)

    def points(self) -> Iterator[tuple[int, ...]]:
        """Every point, as one index per axis."""
        return product(*(range(len(axis.texts)) for axis in self.axes))

    def cross(self) -> Iterator[tuple[int, ...]]:
        """The first point, and each further value of each axis with the others at their first."""
        first = (0,) * len(self.axes)
        yield first
        for place, axis in enumerate(self.axes):
            for index in range(1, len(axis.texts)):
                yield (*first[:place], index, *first[place + 1 :])

    def overrides(self, point: Sequence[int]) -> list[str]:
        """The overrides that make the job at a point."""
        return [axis.texts[index] for axis, index in zip(self.axes, point, strict=True)]

    def label(self, point: Sequence[int]) -> str:
        """The overrides of a point that other points do not have; those of loggers are secret."""
        pairs = zip(self.axes, point, strict=True)
        swept = (axis.texts[index] for axis, index in pairs if len(axis.texts) > 1)
        return " ".join(text for text in swept if not text.lstrip("+").startswith("logger."))

    def config(self, point: Sequence[int]) -> DictConfig:
        """The config at a point; valid until the next one is asked for."""
        choices = self._choices(point)
        if choices not in self._composed:
            self._composed[choices] = self._compose(choices)
        cfg = self._composed[choices]
        for axis, index, settable in zip(self.axes, point, self._settable, strict=True):
            if settable and axis.values is not None:
                OmegaConf.update(cfg, axis.place, axis.values[index], merge=True)
        return cfg

    def values(self, point: Sequence[int], keys: Sequence[str]) -> dict[str, Any]:
        """The resolved values of some keys at a point; always ask for the same keys."""
        choices = self._choices(point)
        if choices not in self._templates:
            self._templates[choices] = self._template(choices, keys)
        template = self._templates[choices]
        if template is None:
            return resolved(self.config(point), keys)
        marked = {
            _mark(axis): axis.values[index]
            for axis, index in zip(self.axes, point, strict=True)
            if axis.values is not None
        }
        return {key: _fill(child, marked) for key, child in template.items()}

    def _template(self, choices: tuple[int, ...], keys: Sequence[str]) -> dict[str, Any] | None:
        """The values of some keys with a mark wherever the value of an axis goes.

        None if the config computes with its values instead of just referring to them.
        """
        cfg = self.config(choices)
        if self._computes:
            return None
        for axis, settable in zip(self.axes, self._settable, strict=True):
            if settable:
                OmegaConf.update(cfg, axis.place, _mark(axis), merge=True)
        return resolved(cfg, keys)

    def _choices(self, point: Sequence[int]) -> tuple[int, ...]:
        return tuple(0 if self._settable[a] else index for a, index in enumerate(point))

    def _compose(self, point: tuple[int, ...]) -> DictConfig:
        moved = [a for a, index in enumerate(point) if index]
        if len(moved) < 2 or not self._separate:
            cfg = compose_config([*self.hydra_overrides, *self.overrides(point)])
            raw = _raw(cfg)
            fixed = {key for key in _constants(raw) if not self._is_set(key)}
            self._computes |= not _only_refers(raw, fixed)
            return cfg
        first = (0,) * len(self.axes)
        cfg = copy.deepcopy(self.config(first))
        for a in moved:
            other = self.config((*first[:a], point[a], *first[a + 1 :]))
            for part in self._parts[a]:
                _transplant(part, other, cfg)
        return cfg

    def _is_set(self, key: str) -> bool:
        """Whether an axis sets the value of a key."""
        return any(not axis.is_choice and _overlap(axis.place, key) for axis in self.axes)

    @cached_property
    def _settable(self) -> list[bool]:
        """Per axis: whether its value can be set in a composed config, in any order."""
        return [
            axis.values is not None
            and not any(_overlap(axis.place, other.place) for other in self._setting(axis))
            for axis in self.axes
        ]

    def _setting(self, axis: Axis) -> list[Axis]:
        """The other axes that set values."""
        return [other for other in self.axes if other is not axis and not other.is_choice]

    @cached_property
    def _parts(self) -> list[set[str]]:
        """Per axis: the keys under which its choices write."""
        first = (0,) * len(self.axes)
        base = merged_files(self.overrides(first))
        parts = []
        for a, axis in enumerate(self.axes):
            part: set[str] = set()
            for index in range(1, len(axis.texts) if axis.is_choice else 1):
                files = merged_files(self.overrides((*first[:a], index, *first[a + 1 :])))
                part |= {package for _, package in files ^ base}
            parts.append({p for p in part if not any(_inside(p, q) for q in part)})
        return parts

    @cached_property
    def _separate(self) -> bool:
        """Whether every axis that is not set afterwards is a choice with parts of its own."""
        unclear = any(
            len(axis.texts) > 1 and not settable and not axis.is_choice
            for axis, settable in zip(self.axes, self._settable, strict=True)
        )
        if unclear or any("" in part for part in self._parts):
            return False
        return not any(
            _overlap(p, q)
            for a, part in enumerate(self._parts)
            for others in self._parts[:a]
            for p in part
            for q in others
        )


def _transplant(part: str, source: DictConfig, target: DictConfig) -> None:
    """Give `target` the part of `source` at a key, references and all."""
    parent, _, name = part.rpartition(".")
    there = OmegaConf.select(source, parent) if parent else source
    here = OmegaConf.select(target, parent) if parent else target
    with open_dict(here):
        here.pop(name, None)
        raw = _raw(there)
        if name in raw:
            here[name] = raw[name]


def _raw(cfg: DictConfig) -> dict[str, Any]:
    """A config as plain values, references unresolved."""
    plain = OmegaConf.to_container(cfg, resolve=False)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def _is_single(value: Any) -> bool:
    """Whether a value of an override is just itself: no list, no reference."""
    if isinstance(value, str):
        return "${" not in value
    return isinstance(value, int | float | bool | None)


def _mark(axis: Axis) -> str:
    return f"\0{axis.place}"


def _fill(tree: Any, values: dict[str, Any]) -> Any:
    """A copy of a tree with the marks replaced by values."""
    if isinstance(tree, dict):
        return {key: _fill(child, values) for key, child in tree.items()}
    if isinstance(tree, list):
        return [_fill(child, values) for child in tree]
    return values.get(tree, tree) if isinstance(tree, str) else tree


def _only_refers(tree: Any, fixed: Set[str]) -> bool:
    """Whether every reference in a config stands alone for another value, `${loss.tau}`.

    A reference to one of the `fixed` keys may also stand in a text, `${protocol.name}/main_k1`.
    """
    if isinstance(tree, dict):
        return all(_only_refers(child, fixed) for child in tree.values())
    if isinstance(tree, list):
        return all(_only_refers(child, fixed) for child in tree)
    if not isinstance(tree, str) or _REFERENCE.fullmatch(tree):
        return True
    return "${" not in _REFERENCE.sub(lambda m: "" if m[1] in fixed else m[0], tree)


def _constants(tree: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Keys of a config whose values are no references."""
    for name, child in tree.items():
        if isinstance(child, dict):
            yield from _constants(child, f"{prefix}{name}.")
        elif not isinstance(child, str) or "${" not in child:
            yield f"{prefix}{name}"


def _overlap(one: str, other: str) -> bool:
    """Whether two keys are the same, or one is inside the other."""
    return one == other or _inside(one, other) or _inside(other, one)


def _inside(one: str, other: str) -> bool:
    return one.startswith(f"{other}.")
