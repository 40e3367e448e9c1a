"""What was measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

_PACKAGES = ("gnnsync", "torch", "pytorch-lightning", "hydra-core", "numpy", "scipy")


def describe() -> dict[str, str]:
    """Processor, memory and versions."""
    found = {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
    return found | {name: importlib.metadata.version(name) for name in _PACKAGES}


def peak_memory() -> int:
    """Most memory this process has held, in bytes.

    Not by `getrusage`, whose figure a process inherits from the one that started it.
    """
    held = _field("/proc/self/status", "VmHWM").split()
    if not held:
        raise SystemExit("peak memory is read from /proc/self/status, which is not there")
    return int(held[0]) * 1024


def _memory() -> str:
    kibibytes = _field("/proc/meminfo", "MemTotal").split()
    return f"{int(kibibytes[0]) / 2**20:.0f} GiB" if kibibytes else "unknown"


def _field(path: str, name: str) -> str:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
