"""The command line of a sweep: its overrides, the grids that they span, and their checks."""

from __future__ import annotations

from dataclasses import dataclass

from omegaconf import DictConfig, OmegaConf

from gnnsync.errors import ConfigError
from gnnsync.experiments.composing import compose_config, parse_overrides
from gnnsync.experiments.config import build
from gnnsync.experiments.hashing import job_hash
from gnnsync.experiments.loggers import make_loggers
from gnnsync.experiments.sweep.grid import Axis, Grid
from gnnsync.experiments.sweep.launch import check_launcher
from gnnsync.io.files import writable_directory


@dataclass(frozen=True)
class Command:
    """What the overrides of a sweep ask for.

    Args:
        overrides: as given.
        grids: one, or one per preset if several are named; each preset adds its own axes.
        first: the first config, with Hydra's own part.
    """

    overrides: list[str]
    grids: list[Grid]
    first: DictConfig

    @classmethod
    def of(cls, overrides: list[str], *, search: bool = False) -> Command:
        """Parse the overrides and compose the first config.

        Args:
            overrides: those of the command line, Hydra's own included.
            search: whether a sweeper that searches chooses the values: axes of presets are left
                to it, and an interval is allowed.
        """
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
            params = [] if search else parse_overrides(_preset_axes(cfg))
            # As Hydra's own sweeper: the command line replaces a preset's axis of the same key.
            by_key = {o.get_key_element(): o for o in (*preset, *params, *others)}
            axes = [Axis.of(override) for override in by_key.values()]
            if not search:
                _check_discrete(axes)
            grids.append(Grid(axes, hydra_overrides))
        assert first is not None
        return cls(overrides, grids, first)

    def check(self) -> Command:
        """Check the launcher and build the config of every value once; returns itself.

        Nothing is written but the folder `output_dir`; a fault is a one-line `GnnsyncError`.
        """
        check_launcher(self.first)
        for grid in self.grids:
            for point in grid.cross():
                cfg = grid.config(point)
                settings, _, method = build(cfg)
                job_hash(cfg)
                make_loggers(cfg, writable_directory(settings.output_dir), method)
        return self


def _check_discrete(axes: list[Axis]) -> None:
    for axis in axes:
        if axis.endless:
            raise ConfigError(
                f"{axis.key}: an interval cannot be swept: list values, or search it with "
                "hydra/sweeper=search"
            )


def _preset_axes(cfg: DictConfig) -> list[str]:
    """The axes that a preset sweeps by itself: `hydra.sweeper.params`, and those of its scale."""
    axes = dict(OmegaConf.select(cfg, "hydra.sweeper.params") or {})
    if "grid" in cfg:
        if cfg.scale not in cfg.grid:
            raise ConfigError(f"scale = {cfg.scale}: must be one of {', '.join(cfg.grid)}")
        axes |= cfg.grid[cfg.scale]
    return [f"{key}={value}" for key, value in axes.items()]
