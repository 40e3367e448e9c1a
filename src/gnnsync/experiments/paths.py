"""Where configs are found."""

from __future__ import annotations

from pathlib import Path

import gnnsync
from gnnsync.errors import GnnsyncError


def conf_dir() -> Path:
    """The folder of configs: inside an installed package, beside `src/` in a checkout."""
    package = Path(gnnsync.__file__).resolve().parent
    for candidate in (package / "conf", package.parents[1] / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise GnnsyncError(f"no configs found beside {package}: reinstall gnnsync")
