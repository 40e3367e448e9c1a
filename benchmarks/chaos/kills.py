"""Random SIGKILLs, full disks and clocks that jump: no row of a sweep is lost, doubled or changed.

    python -m benchmarks.chaos kills --count 200
    python -m benchmarks.chaos kills --count 6 --launchers basic joblib

A small sweep is run once without disturbance. Then, for each launcher and for one driver or two in
the same folder, it is started on a small disk and disturbed at a random moment until it has all its
results: killed by SIGKILL (the whole process group or the driver alone), or the disk is filled.
Every start has another time of the day, which jumps once more while it runs (not with Ray, whose
own waiting depends on it), and the times of files are moved. The rows have to be those of the first
run, but for the times that jobs took. Processes that are there 10 s after their sweep has ended are
counted.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path

from benchmarks.chaos.disturbances import Clock, Disk, compiled_clock, move_times, small_disk
from benchmarks.chaos.sweeps import JOBS, LAUNCHERS, Run, fault, finish, orphans, results, rows

_MEGABYTES = 4
# How often a disturbance is a full disk.
_FULL = 0.12
# Seconds in which a sweep has to end by itself on a full disk, on a busy machine too.
_ENDING = 1800.0


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos kills")
    parser.add_argument("--count", type=int, default=200, help="kills in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--launchers", nargs="+", default=list(LAUNCHERS), choices=LAUNCHERS)
    given = parser.parse_args(arguments)
    tallies = attack(given.launchers, given.count, random.Random(given.seed))
    print(table(tallies))
    total = sum(tallies.values(), Counter())
    sys.exit(any(total[name] for name in FAULTS))


# What is counted of the sweeps of one launcher; a fault is one that must not be.
_DONE = ("sweeps", "kills", "full disks", "jumps of the clock")
FAULTS = (
    *("rows lost, doubled or different", "processes left behind"),
    *("sweeps that do not end", "tracebacks"),
)

# Launcher and number of drivers: what was done to its sweeps, and what came of it.
Tallies = dict[tuple[str, int], "Counter[str]"]


def table(tallies: Tallies) -> str:
    """All tallies and their sum, as a table in Markdown."""
    columns = (*_DONE, *FAULTS)
    lines = [["launcher", "drivers", *columns], ["---"] * (2 + len(columns))]
    lines += [[name, f"{n}", *(f"{t[c]}" for c in columns)] for (name, n), t in tallies.items()]
    total = sum(tallies.values(), Counter())
    lines += [["all", "", *(f"{total[column]}" for column in columns)]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def attack(launchers: list[str], count: int, chance: random.Random) -> Tallies:
    """Disturb one sweep after the other until there were `count` kills."""
    tallies: Tallies = {(name, drivers): Counter() for name in launchers for drivers in (1, 2)}
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        whole = place / "whole"
        finish(Run(whole, "basic", place / "whole.log"))
        expected = rows(whole)
        if (clock := compiled_clock(place)) is None:
            print("no C compiler: the clock does not jump")
        left = count
        for number, ((launcher, drivers), tally) in enumerate(cycle(tallies.items())):
            if left <= 0:
                break
            folder = place / f"round{number}"
            with small_disk(folder, _MEGABYTES) as disk:
                if disk is None and not number:
                    print("mounting a small disk is not allowed: no disk is filled")
                attacked = _Round(folder, launcher, chance, disk, clock)
                attacked.disturb(drivers, left)
                wrong = fault(folder, expected)
            left -= attacked.tally["kills"]
            attacked.tally["sweeps"] = 1
            attacked.tally["rows lost, doubled or different"] += bool(wrong)
            tally.update(attacked.tally)
            told = ", ".join(f"{attacked.tally[name]} {name}" for name in (*_DONE, *FAULTS))
            print(f"{launcher}, {drivers} drivers: {wrong or 'same rows'}; {told}", flush=True)
    return tallies


class _Round:
    """A sweep that is started and disturbed until it is complete."""

    def __init__(
        self,
        folder: Path,
        launcher: str,
        chance: random.Random,
        disk: Disk | None,
        clock: Clock | None,
    ) -> None:
        self.folder, self.launcher, self.chance, self.disk = folder, launcher, chance, disk
        # Ray's own libraries wait until a time of the day, as the kernel knows it.
        self.clock = None if launcher == "ray" else clock
        self.log = folder.with_suffix(".log")
        self.tally: Counter[str] = Counter()

    def disturb(self, drivers: int, most: int) -> None:
        """Start and disturb the sweep until it is complete or was killed so often; finish it."""
        old: list[Run] = []
        while self.tally["kills"] < most and len(results(self.folder)) < JOBS:
            runs = [self._start() for _ in range(drivers)]
            self._wait(runs)
            if self.disk is not None and self.chance.random() < _FULL:
                self._fill(self.disk, runs)
            else:
                self._kill(runs)
            old += runs
            move_times(self.folder, self.chance)
            if self.chance.random() < 0.5:  # otherwise the next start meets what is left
                self._count_orphans(old)
        last = self._start()
        try:
            finish(last)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            self._report(f"the last start has not succeeded: {error}")
            last.kill(whole_group=True)
        self._count_orphans([*old, last])
        told = self.log.read_text(errors="replace")
        if found := told.count("Traceback"):
            self.tally["tracebacks"] += found
            print(told[told.index("Traceback") :][:4000], flush=True)

    def _start(self) -> Run:
        self._jump()
        environment = {} if self.clock is None else self.clock.environment
        return Run(self.folder, self.launcher, self.log, environment)

    def _wait(self, runs: list[Run]) -> None:
        """Wait for one or two results, or a moment in the planning before any."""
        awaited = self.chance.choice((0, 1, 1, 2))
        target = len(results(self.folder)) + awaited
        while len(results(self.folder)) < target and any(run.running for run in runs):
            time.sleep(0.02)
            if self.chance.random() < 0.005:
                self._jump()
        time.sleep(self.chance.uniform(0, 0.5 if awaited else 4.0))

    def _kill(self, runs: list[Run]) -> None:
        for run in runs:
            if run.running:
                run.kill(whole_group=self.chance.random() < 0.5)
                self.tally["kills"] += 1
            run.wait(1)

    def _fill(self, disk: Disk, runs: list[Run]) -> None:
        """Fill the disk until the sweeps have ended by themselves."""
        disk.fill()
        self.tally["full disks"] += 1
        for run in runs:
            try:
                run.wait(_ENDING)
            except subprocess.TimeoutExpired:
                self._report("the sweep does not end on a full disk")
                run.kill(whole_group=True)
        disk.clear()

    def _report(self, failure: str) -> None:
        self.tally["sweeps that do not end"] += 1
        print(f"{self.launcher}: {failure}", flush=True)

    def _jump(self) -> None:
        if self.clock is not None:
            self.clock.jump(self.chance)
            self.tally["jumps of the clock"] += 1

    def _count_orphans(self, runs: list[Run]) -> None:
        for process in orphans(runs):
            print(f"left behind: {' '.join(process.cmdline())[:200]}", flush=True)
            self.tally["processes left behind"] += 1
            process.kill()
        runs.clear()
