"""What a command prints of its config: Hydra's `--cfg` and `--info`, without secrets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from gnnsync.experiments.config.arguments import config_dirs, option_value, overrides_in
from gnnsync.experiments.paths import conf_dir
from gnnsync.experiments.tracking.secrets import MaskedStream, Secrets

_PRINTING = ("--cfg", "-c", "--info", "-i")


@contextmanager
def without_secrets(arguments: list[str]) -> Iterator[None]:
    """Mask what is printed in the block, if the arguments ask for the config to be printed.

    Hydra prints it before any code of ours is called, and has no place for a plugin there.
    """
    if not any(_asks(text) for text in arguments):
        yield
        return
    masked: Any = MaskedStream(sys.stdout, secrets_of_command(arguments))
    with redirect_stdout(masked):
        yield


def secrets_of_command(arguments: list[str]) -> Secrets:
    """Secrets in the arguments, in the environment, and in the config that is composed of them."""
    given = Secrets.in_arguments(arguments)
    folders = [f"hydra.searchpath=['file://{path.resolve()}']" for path in config_dirs(arguments)]
    root = Path(option_value(arguments, "--config-path", "-cp") or conf_dir()).absolute()
    name = option_value(arguments, "--config-name", "-cn") or "config"
    try:
        with initialize_config_dir(str(root), version_base="1.3"):
            parsed = OverridesParser.create().parse_overrides(overrides_in(arguments))
            # Hydra, too, composes what it prints without the values that are swept.
            single = [one.input_line or "" for one in parsed if not one.is_sweep_override()]
            cfg = compose(name, overrides=[*folders, *single], return_hydra_config=True)
            return given | Secrets.of(cfg)
    except (HydraException, OmegaConfBaseException):
        return given  # Hydra reports what is wrong, and prints no config


def _asks(text: str) -> bool:
    """Whether an argument is one of the options, which may be shortened and have a value."""
    option = text.partition("=")[0]
    long = len(option) > 3 and any(name.startswith(option) for name in ("--cfg", "--info"))
    return option in _PRINTING or long or (text[:2] in ("-c", "-i") and text[:3] not in _OTHERS)


# Options that begin like `-c`.
_OTHERS = ("-cp", "-cn", "-cd")
