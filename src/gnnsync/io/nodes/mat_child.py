"""The process that reads a `.mat` file for `mat_file.read_mat`.

    python -m gnnsync.io.nodes.mat_child IN OUT BYTES SECONDS

It limits itself before it opens the file, writes the n × 2 arrays to OUT as `.npz`, and ends with 1
and one line on standard error if the file cannot be read.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy.io import loadmat

from gnnsync.io.nodes.mat_file import CONTENTS, is_cloud

# Entries of the list for error messages.
_LISTED = 20
_LONGEST_NAME = 63  # MATLAB's own bound


def main(argv: list[str]) -> int:
    """Read, choose and write the arrays; the exit code."""
    path, made, memory, seconds = argv
    _limit(int(memory), int(seconds))
    try:
        held: dict[str, Any] = loadmat(path)
        np.savez(made, **_clouds(held))
    except NotImplementedError:
        print("a MATLAB 7.3 file", file=sys.stderr)
        return 1
    except MemoryError:
        print("it needs far more memory than its size", file=sys.stderr)
        return 1
    except Exception as error:  # a damaged file can raise any exception in loadmat
        print(f"{error}" or type(error).__name__, file=sys.stderr)
        return 1
    return 0


def _limit(memory: int, seconds: int) -> None:
    """Bound the memory and the time of this process, where the system can."""
    try:
        import resource  # not on Windows, where only the caller's time limit holds
    except ImportError:
        return
    used = int(time.process_time()) + 1
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, used + seconds),
        (resource.RLIMIT_AS, memory),
    ):
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))


def _clouds(held: dict[str, Any]) -> dict[str, Any]:
    """The arrays of shape n × 2, their names, and what else the file holds."""
    values = {str(name): value for name, value in held.items() if not name.startswith("__")}
    clouds = {name[:_LONGEST_NAME]: value for name, value in values.items() if is_cloud(value)}
    listed = [f"{name[:_LONGEST_NAME]} {np.shape(value)}" for name, value in values.items()]
    arrays = {f"cloud_{i}": value for i, value in enumerate(clouds.values())}
    names = np.array(list(clouds), dtype=str)
    return arrays | {"names": names, CONTENTS: np.array(listed[:_LISTED], dtype=str)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
