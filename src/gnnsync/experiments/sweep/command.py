"""A command line: its overrides, the grids they sweep, and what Hydra is told."""

from __future__ import annotations

from dataclasses import dataclass

from omegaconf import DictConfig, OmegaConf

from gnnsync.errors import ConfigError
from gnnsync.experiments.composing import compose_config, parse_overrides
from gnnsync.experiments.sweep.grid import Axis, Grid

BASIC_SWEEPER = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"


@dataclass(frozen=True)
class Command:
    """What the overrides of a command line ask for.

    Args:
        overrides: as given.
        grids: one, or one per preset if several are named; each preset adds its own axes.
        first: the first config, with Hydra's own part.
    """

    overrides: list[str]
    grids: list[Grid]
    first: DictConfig

    @classmethod
    def of(cls, overrides: list[str], multirun: bool = False) -> Command:
        """Parse the overrides and compose the first config."""
        parsed = parse_overrides(overrides)
        hydra_overrides = [o.input_line or "" for o in parsed if o.is_hydra_override()]
        given = [override for override in parsed if not override.is_hydra_override()]
        presets = [override for override in given if override.key_or_group == "experiment"][-1:]
        others = [override for override in given if override not in presets]
        names = Axis.of(presets[0]).texts if presets else ("",)
        grids, first = [], None
        for name in names:
            preset = parse_overrides([name] if name else [])
            start = [Axis.of(override).texts[0] for override in preset + others]
            cfg = compose_config([*hydra_overrides, *start], with_hydra=True)
            first = first or cfg
            params = parse_overrides(_preset_axes(cfg)) if multirun and is_product(cfg) else []
            # As Hydra's own sweeper: the command line replaces what a preset says of the same key.
            by_key = {o.get_key_element(): o for o in (*preset, *params, *others)}
            axes = [Axis.of(override) for override in by_key.values()]
            if is_product(cfg):
                _check_ends(axes)
            grids.append(Grid(axes, hydra_overrides))
        assert first is not None
        return cls(overrides, grids, first)

    @property
    def is_product(self) -> bool:
        """Whether a sweep is over all combinations of given values, not a search."""
        return is_product(self.first)


def is_product(cfg: DictConfig) -> bool:
    """Whether the sweeper is Hydra's own."""
    return bool(cfg.hydra.sweeper._target_ == BASIC_SWEEPER)


def _check_ends(axes: list[Axis]) -> None:
    for axis in axes:
        if axis.endless:
            raise ConfigError(
                f"{axis.key}: an interval has no end of values: list some, or search it with "
                "hydra/sweeper=optuna"
            )


def _preset_axes(cfg: DictConfig) -> list[str]:
    """The axes that a preset sweeps by itself: Hydra's way, and those of the chosen scale."""
    axes = dict(OmegaConf.select(cfg, "hydra.sweeper.params") or {})
    if "grid" in cfg:
        if cfg.scale not in cfg.grid:
            raise ConfigError(f"scale = {cfg.scale}: must be one of {', '.join(cfg.grid)}")
        axes |= cfg.grid[cfg.scale]
    return [f"{key}={value}" for key, value in axes.items()]
