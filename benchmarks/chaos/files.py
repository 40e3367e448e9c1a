"""Damaged files over all readers: crashes, hangs, memory and exceptions that are not ours.

    python -m benchmarks.chaos files                        1,000 files, half a minute
    python -m benchmarks.chaos files --count 100000         the size of a night
    python -m benchmarks.chaos files --only npz --first 17 --count 1   one case again
    python -m benchmarks.chaos files --guided               guided by coverage: needs atheris

Without guidance a case is determined by its number and the seed. Cases run in child processes of
bounded memory and time, so that a crash is counted and the next case goes on.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from benchmarks.chaos.guided import attack_guided, installed
from benchmarks.chaos.mutations import spliced
from benchmarks.chaos.outcomes import MOST_WAITING, Tally, bound_process, ending, outcome_of
from benchmarks.chaos.readers import Reader, readers

_BATCH = 500  # cases of one child


def main(arguments: list[str]) -> None:
    options = _options(arguments)
    known = readers()
    chosen = {name: known[name] for name in options.only or known}
    folder = None if options.keep is None else Path(options.keep)
    began = time.perf_counter()
    if options.guided:
        corpus = None if options.corpus is None else Path(options.corpus)
        tally = attack_guided(chosen, options.count, options.seed, keep=folder, corpus=corpus)
    else:
        cases = range(options.first, options.first + options.count)
        tally = attack(chosen, cases, options.seed, folder)
    print("| reader | files | read | refused | other |\n|---|---|---|---|---|")
    for name, found in tally.outcomes.items():
        rest = found.total() - found["read"] - found["refused"]
        print(f"| {name} | {found.total()} | {found['read']} | {found['refused']} | {rest} |")
    total = sum(found.total() for found in tally.outcomes.values())
    print(f"{total} files, {len(tally.failures)} not fine, {time.perf_counter() - began:.0f} s")
    sys.exit(1 if tally.failures else 0)


def attack(
    chosen: dict[str, Reader], cases: range, seed: int = 0, keep: Path | None = None
) -> Tally:
    """Run the cases in child processes.

    Args:
        chosen: the readers.
        cases: their numbers.
        seed: of the damage.
        keep: folder for the files that were not fine.
    """
    tally = Tally()
    at = cases.start
    with tempfile.TemporaryDirectory() as scratch:
        while at < cases.stop:
            at = _run_batch(chosen, range(at, min(at + _BATCH, cases.stop)), seed, tally, scratch)
    if keep is not None and tally.failures:
        keep.mkdir(parents=True, exist_ok=True)
        for number, name, _ in tally.failures:
            made = keep / f"{name.replace(', ', '-')}-{seed}-{number}.{chosen[name].ending}"
            made.write_bytes(case(chosen, number, seed)[1])
    return tally


def case(chosen: dict[str, Reader], number: int, seed: int) -> tuple[str, bytes]:
    """Name of the reader and the damaged file of one case."""
    rng = Random(f"{seed}:{number}")
    names = list(chosen)
    name = rng.choices(names, [chosen[one].share for one in names])[0]
    reader = chosen[name]
    if rng.random() < 0.05:
        return name, spliced(reader.seeds, rng)
    return name, reader.damage(rng.choice(reader.seeds), rng)


def _run_batch(
    chosen: dict[str, Reader], cases: range, seed: int, tally: Tally, scratch: str
) -> int:
    """Run cases in a child until it ends; the first case that is left."""
    received, sent = os.pipe()
    child = os.fork()
    if not child:
        os.close(received)
        _work(chosen, cases, seed, sent, scratch)
    os.close(sent)
    at = cases.start
    with os.fdopen(received, "rb", buffering=0) as pipe:
        buffer = b""
        while at < cases.stop:
            ready, _, _ = select.select([pipe], [], [], MOST_WAITING)
            data = pipe.read(65536) if ready else b""
            if not data:
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                name, outcome = line.decode().split("\t", 1)
                tally.add(at, name, outcome)
                at += 1
    if at < cases.stop and not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    ended = at > cases.start and not status  # after a case of much memory
    if at < cases.stop and not ended:
        tally.add(at, case(chosen, at, seed)[0], ending(os.waitstatus_to_exitcode(status)))
        at += 1
    return at


def _work(chosen: dict[str, Reader], cases: range, seed: int, pipe: int, scratch: str) -> None:
    """In the child: run the cases, report each in a line, and exit."""
    bound_process()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what C libraries print before they abort
    try:
        for number in cases:
            name, data = case(chosen, number, seed)
            path = Path(scratch) / f"case.{chosen[name].ending}"
            path.write_bytes(data)
            line = f"{name}\t{outcome_of(chosen[name], path)}".replace("\n", " ")
            os.write(pipe, f"{line}\n".encode("utf-8", "replace"))
            if line.endswith("MB of memory"):
                break  # the peak of a process does not fall: the next case gets a fresh one
    finally:
        os._exit(0)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.chaos files", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="files (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0, help="of the damage")
    parser.add_argument("--only", nargs="+", choices=list(readers()), help="readers to attack")
    parser.add_argument("--keep", metavar="DIR", help="keep files that were not fine here")
    parser.add_argument("--guided", action="store_true", help="by coverage, with atheris")
    parser.add_argument("--corpus", metavar="DIR", help="keep files that reached new code here")
    options = parser.parse_args(arguments)
    if options.guided and not installed():
        parser.error("--guided needs atheris: pip install atheris")
    if options.corpus is not None and not options.guided:
        parser.error("--corpus is used with --guided")
    return options
