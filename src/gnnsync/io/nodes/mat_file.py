"""`.mat` files of MATLAB, read in a process of its own with bounded memory and time.

A damaged file can crash `scipy.io.loadmat`, or make it allocate gigabytes: here that ends the
other process only, and the caller gets an error.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from gnnsync.io.input.array_file import load_arrays
from gnnsync.io.input.source import Source
from gnnsync.typing import FloatArray

CONTENTS = "contents"  # the array that lists what the file holds
# Memory and time of the process: what the interpreter and SciPy take, and per byte of the file.
_MEMORY, _MEMORY_PER_BYTE = 1 << 30, 20
_SECONDS, _SECONDS_PER_BYTE = 3, 5e-8
# The limit counts seconds of the processor; a busy machine may take this many times longer.
_WAITING = 10
_LONGEST = 100  # characters of the child's reason
# Signals by which the system ends a process that has used up its time; Windows has none.
_LATE = [getattr(signal, name) for name in ("SIGXCPU", "SIGKILL") if hasattr(signal, name)]
_ADVICE = "save it again with -v7, or save the points as .csv or .npy"


def read_mat(source: Source, array: str | None = None) -> FloatArray:
    """The array named `array` of a `.mat` file, or its only one of shape n × 2.

    Raises:
        DataFileError: the file is damaged, holds no such array or several, or needs more memory or
            time than its size accounts for.
    """
    with source.open() as handle:
        size = os.fstat(handle.fileno()).st_size
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "clouds.npz"
        _run_child(source, size, made)
        arrays = load_arrays(Source(made))
    names = arrays["names"].tolist()
    held = ", ".join(arrays[CONTENTS].tolist()) or "nothing"
    if array is not None and array not in names:
        raise source.error(f"has no n × 2 array {array!r}; the file holds {held}")
    if array is None and len(names) != 1:
        raise source.error(
            f"{len(names)} arrays of shape n × 2, must be one, or name it; the file holds {held}"
        )
    place = 0 if array is None else names.index(array)
    return arrays[f"cloud_{place}"].astype(np.float64)


def is_cloud(value: Any) -> bool:
    """Whether a value is an array of real numbers of shape n × 2."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind in "iuf"
        and value.ndim == 2
        and value.shape[1] == 2
    )


def _run_child(source: Source, size: int, made: Path) -> None:
    """Let another process write the arrays of the file to `made`."""
    memory = _MEMORY + _MEMORY_PER_BYTE * size
    seconds = _SECONDS + int(_SECONDS_PER_BYTE * size)
    command = [sys.executable, "-m", "gnnsync.io.nodes.mat_child"]
    command += [os.path.abspath(source.path), str(made), str(memory), str(seconds)]
    # The package may have been found through `sys.path`; threads of BLAS reserve memory.
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    environment = os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=_WAITING * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise source.error(f"takes longer than {_WAITING * seconds} s to read: {_ADVICE}") from None
    if -done.returncode in _LATE:
        raise source.error(f"takes longer than {seconds} s to read: {_ADVICE}")
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise source.error(f"is a damaged .mat file: its reader ended by signal {name}: {_ADVICE}")
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").split("\n")
        reason = next((line for line in reversed(lines) if line.strip()), "no reason given")
        raise source.error(f"is not a valid .mat file ({reason[:_LONGEST]}): {_ADVICE}")
