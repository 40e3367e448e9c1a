"""The command line of a sweep: its overrides, the grids that they span, and their checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from omegaconf import DictConfig

from gnnsync.errors import ConfigError
from gnnsync.experiments.config.building import build
from gnnsync.experiments.config.composing import compose_config, parse_overrides
from gnnsync.experiments.config.devices import check_gpu_here
from gnnsync.experiments.job.hashing import job_hash
from gnnsync.experiments.sweep.grid import Axis, Grid
from gnnsync.experiments.sweep.launch import check_launcher, runs_here
from gnnsync.experiments.sweep.naming import new_name
from gnnsync.experiments.sweep.presets import preset_axes
from gnnsync.experiments.tracking.loggers import make_loggers
from gnnsync.io.files import writable_directory


@dataclass(frozen=True)
class Command:
    """What the overrides of a sweep ask for.

    Args:
        overrides: as given.
        grids: one, or one per preset if several are named; each preset adds its own axes.
        first: the first config, with Hydra's own part.
        new_name: name that the sweep was given here, since neither command nor preset has one.
    """

    overrides: list[str]
    grids: list[Grid]
    first: DictConfig
    new_name: str | None = None

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
        grids: list[Grid] = []
        first, new = None, None
        for name in names:
            preset = parse_overrides([name] if name else [])
            start = [Axis.of(override).texts[0] for override in preset + others]
            cfg = compose_config([*hydra_overrides, *start], with_hydra=True)
            first = first or cfg
            params = [] if search else parse_overrides(_axes(cfg))
            # As Hydra's own sweeper: the command line replaces a preset's axis of the same key.
            by_key = {o.get_key_element(): Axis.of(o) for o in (*preset, *params, *others)}
            if not search:
                _check_discrete(by_key.values())
            if _unnamed(cfg, by_key):
                swept = [key for key, axis in by_key.items() if len(axis.texts) > 1 or axis.endless]
                new = new or new_name(swept, Path(str(cfg.output_dir)), datetime.now(), cfg.sweep)
                by_key["sweep"] = Axis("sweep", (f"sweep={new}",))
            grids.append(Grid(list(by_key.values()), hydra_overrides))
        assert first is not None
        return cls(overrides, grids, first, new)

    def check(self) -> Command:
        """Check the launcher and build the config of every value once; returns itself.

        Nothing is written but the folder `output_dir`; a fault is a one-line `GnnsyncError`.
        """
        check_launcher(self.first)
        for grid in self.grids:
            for point in grid.cross():
                cfg = grid.config(point)
                if runs_here(self.first):
                    check_gpu_here(cfg)
                settings, _, method = build(cfg)
                job_hash(cfg)
                make_loggers(cfg, writable_directory(settings.output_dir), method)
        return self


def _check_discrete(axes: Iterable[Axis]) -> None:
    for axis in axes:
        if axis.endless:
            raise ConfigError(
                f"{axis.key}: an interval cannot be swept: list values, or search it with "
                "hydra/sweeper=search"
            )


def _axes(cfg: DictConfig) -> list[str]:
    """The axes that a preset sweeps by itself, as overrides."""
    return [f"{key}={value}" for key, value in preset_axes(cfg, cfg.hydra.sweeper).items()]


def _unnamed(cfg: DictConfig, given: Iterable[str]) -> bool:
    """Whether nobody has named the sweep; `debug=CHOICE` names only a folder of sweeps."""
    debug = cfg.hydra.runtime.choices.get("debug")
    return cfg.sweep is None or bool(debug and "sweep" not in given)
