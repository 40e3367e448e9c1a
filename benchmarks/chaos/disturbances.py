"""What disturbs a sweep from outside: a disk that is full, a clock that jumps."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DAY = 86_400
# Seconds by which the clock jumps: some minutes, an hour, a day, a year, either way.
_JUMPS = (-365 * _DAY, -_DAY, -3600, -300, 0, 300, 3600, _DAY, 365 * _DAY)


class Disk:
    """A small file system in memory, which can be filled.

    Args:
        folder: where it is mounted.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Leave no free byte."""
        with (self.folder / ".filler").open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))

    def clear(self) -> None:
        """Give the room back."""
        (self.folder / ".filler").unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Disk | None]:
    """Mount a small disk in a folder, which is made; None where mounting is not allowed."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        yield None
        return
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Clock:
    """The time of the day as a process sees it that was started with `environment`.

    Args:
        library: `clock.c`, compiled.
        file: holds the seconds by which the clock is wrong.
    """

    def __init__(self, library: Path, file: Path) -> None:
        self.library, self.file = library, file
        self.set(0)

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a process with this clock."""
        return {"LD_PRELOAD": str(self.library), "CHAOS_CLOCK": str(self.file)}

    def set(self, seconds: int) -> None:
        """Make the clock wrong by so many seconds."""
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{seconds}\n")
        fresh.replace(self.file)

    def jump(self, chance: random.Random) -> None:
        """Make the clock wrong by another amount."""
        self.set(chance.choice(_JUMPS))


def compiled_clock(folder: Path) -> Clock | None:
    """A clock that can jump; None where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run(
        [compiler, "-O", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
    )
    return Clock(library, folder / "clock.txt")


def move_times(folder: Path, chance: random.Random) -> None:
    """Set the times of some files a day back or ahead."""
    for path in folder.rglob("*"):
        if path.is_file() and chance.random() < 0.3:
            with suppress(FileNotFoundError):  # a worker may still tidy up
                moved = path.stat().st_mtime + chance.choice((-_DAY, _DAY))
                os.utime(path, (moved, moved))
