"""Damage guided by coverage: files that reach new code of the readers are damaged further.

`atheris` (libFuzzer for Python) keeps those files and chooses which to damage; the damage is ours,
or now and then its own. It runs in a process for each reader, `benchmarks.chaos.guided_child`,
which is started again after a crash.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks.chaos.outcomes import Tally, ending
from benchmarks.chaos.readers import Reader

# Files of one process: memory that a reader's libraries keep does not add up.
_BATCH = 5000
# Seconds by the clock without a word of the process, which imports instrumented modules first,
# until it counts as a hang: the machine may be busy.
_MOST_WAITING = 900.0

# Signals, time and memory are left to us, so that what is not fine is counted. The timer of atheris
# goes off even with -timeout=0, at every second, and ends the process if the clock has moved on
# since the file at hand was begun: it is set to more than any run takes.
LIBFUZZER_OPTIONS = (
    *(f"-handle_{name}=0" for name in ("segv", "bus", "abrt", "ill", "fpe", "int", "term")),
    *(f"-handle_{name}=0" for name in ("xfsz", "usr1", "usr2")),
    *("-timeout=1000000", "-rss_limit_mb=0", "-detect_leaks=0", "-len_control=0"),
)


def installed() -> bool:
    """Whether `atheris` is."""
    return find_spec("atheris") is not None


def attack_guided(
    chosen: dict[str, Reader],
    count: int,
    seed: int = 0,
    *,
    keep: Path | None = None,
    corpus: Path | None = None,
) -> Tally:
    """Attack each reader with its share of `count` files.

    Args:
        chosen: the readers.
        count: files over all readers.
        seed: of the damage.
        keep: folder for the files that were not fine.
        corpus: folder in which the files that reached new code are kept, by reader.
    """
    tally, total = Tally(), sum(reader.share for reader in chosen.values())
    shares = [reader.share / total for reader in chosen.values()]
    done = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        for (name, reader), share in zip(chosen.items(), shares, strict=True):
            most = round(count * (done + share)) - round(count * done)
            done += share
            folder = (corpus or Path(scratch) / "corpus") / name.replace(", ", "-")
            folder.mkdir(parents=True, exist_ok=True)
            for number, content in enumerate(reader.seeds):
                (folder / f"seed-{number}").write_bytes(content)
            at = 0
            while at < most:
                cases = range(at, min(at + _BATCH, most))
                at = _run(name, reader, cases, seed, tally, Path(scratch), folder, keep)
    return tally


def _run(
    name: str,
    reader: Reader,
    cases: range,
    seed: int,
    tally: Tally,
    scratch: Path,
    folder: Path,
    keep: Path | None,
) -> int:
    """Run cases in a child until it ends; the first case that is left."""
    path = scratch / f"case.{reader.ending}"
    received, sent = os.pipe()
    command = [sys.executable, "-m", "benchmarks.chaos.guided_child", name]
    command += [str(cases.start), str(len(cases)), str(seed), str(sent), str(path), str(folder)]
    command += [] if keep is None else [str(keep)]
    printed = scratch / "printed"
    with printed.open("wb") as errors:
        child = subprocess.Popen(
            command,
            pass_fds=(sent,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        )
    os.close(sent)
    at, ready = cases.start, True
    with os.fdopen(received, "rb", buffering=0) as pipe:
        buffer = b""
        while ready:
            ready = bool(select.select([pipe], [], [], _MOST_WAITING)[0])
            data = pipe.read(65536) if ready else b""
            if not data:
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                tally.add(at, name, line.decode())
                at += 1
    if not ready:
        child.send_signal(signal.SIGKILL)
    if code := child.wait():
        lines = printed.read_text(errors="replace").splitlines()
        said = [line for line in lines if not line.startswith(("INFO", "#"))]
        tally.add(at, name, f"{ending(code)}: {' '.join(said[-30:])[:3000]}")
        at += 1
        if keep is not None and path.exists():
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, keep / f"{folder.name}-{seed}-{at - 1}.{reader.ending}")
    return at
