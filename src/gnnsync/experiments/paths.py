"""Where configs are found, and where jobs have their folders."""

from __future__ import annotations

from pathlib import Path

import gnnsync
from gnnsync.errors import GnnsyncError

# Folder of single jobs that were given no other.
_SINGLE_JOBS = "runs"


def sweep_name(value: object) -> str:
    """Name of a sweep's folder below `output_dir`; the config's null is that of single jobs."""
    return _SINGLE_JOBS if value is None else str(value)


def conf_dir() -> Path:
    """The folder of configs: inside an installed package, beside `src/` in a checkout."""
    package = Path(gnnsync.__file__).resolve().parent
    for candidate in (package / "conf", package.parents[1] / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise GnnsyncError(f"no configs found beside {package}: reinstall gnnsync")
