"""Where configs are found and where results go."""

from __future__ import annotations

import tempfile
from pathlib import Path

import gnnsync
from gnnsync.errors import GnnsyncError


class OutputError(GnnsyncError):
    """Results cannot be written."""


def conf_dir() -> Path:
    """The folder of configs: inside an installed package, beside `src/` in a checkout."""
    package = Path(gnnsync.__file__).resolve().parent
    for candidate in (package / "conf", package.parents[1] / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise GnnsyncError(f"no configs found beside {package}: reinstall gnnsync")


def writable_directory(path: Path) -> Path:
    """Create `path` and make sure that files can be written there, before any work is done."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"0")
    except OSError as error:
        raise OutputError(
            f"output_dir: cannot write in {path} ({error.strerror or error}): "
            "choose another with output_dir=FOLDER"
        ) from None
    return path
