"""Run the study of the paper's presets, or go on with it: `scripts/reproduce`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

# Before NumPy and torch are imported: they read these once.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from benchmarks.reproduction.checking import check  # noqa: E402
from benchmarks.reproduction.page import write_page  # noqa: E402
from benchmarks.reproduction.running import Study  # noqa: E402
from benchmarks.reproduction.store import Store  # noqa: E402
from benchmarks.reproduction.study import BY_NAME, FOLDER, PAGE, PROTOCOLS, ROOT  # noqa: E402
from benchmarks.reproduction.timing import clock, in_words, seconds  # noqa: E402
from gnnsync.errors import GnnsyncError  # noqa: E402
from gnnsync.experiments.config.composing import hydra_configs  # noqa: E402
from gnnsync.experiments.exit_codes import BAD_INPUT, INTERRUPTED  # noqa: E402
from gnnsync.experiments.signals import ending_signals, exit_code_of  # noqa: E402


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        "scripts/reproduce",
        description="Run every preset of the paper under both protocols, keep the rows in "
        "docs/reproduction/ and write docs/reproduction.md. Finished jobs are not run again.",
    )
    made.add_argument(
        "--only", metavar="PART", nargs="+", choices=BY_NAME, help=f"of {', '.join(BY_NAME)}"
    )
    made.add_argument("--protocol", choices=PROTOCOLS, help="only this one (both)")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="jobs at once (cores)")
    made.add_argument(
        "--dry-run", action="store_true", help="say what is left and how long it takes"
    )
    made.add_argument("--page", action="store_true", help="only write the page from the kept rows")
    made.add_argument(
        "--collect",
        action="store_true",
        help="keep what the sweeps have finished so far, run nothing",
    )
    made.add_argument(
        "--check",
        metavar="N",
        type=int,
        nargs="?",
        const=0,
        help="run N kept jobs again, evenly spread, and compare their rows (all)",
    )
    made.add_argument(
        "--output", type=Path, default=ROOT / "outputs" / "reproduction", help="folder of the jobs"
    )
    made.add_argument("--rows", type=Path, default=FOLDER, help="folder of the kept rows")
    made.add_argument(
        "--write-page", type=Path, default=PAGE, help="file of the page", metavar="FILE"
    )
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the command; exit code 1 if a job failed or a row differs."""
    options = parser().parse_args(arguments)
    try:
        with ending_signals():
            return _carry_out(options)
    except GnnsyncError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt as interrupt:
        print("reproduce: interrupted; the same command goes on", file=sys.stderr)
        return exit_code_of(interrupt) or INTERRUPTED


def _carry_out(options: argparse.Namespace) -> int:
    store = Store.read(options.rows)
    parts = [BY_NAME[name] for name in options.only or BY_NAME]
    protocols = [options.protocol] if options.protocol else list(PROTOCOLS)
    if options.page:
        write_page(store, options.write_page, options.rows, options.output)
        return 0
    if options.check is not None:
        return check(store, options.check, {p.name for p in parts}, set(protocols))
    with hydra_configs():
        study = Study(parts, protocols, store, options.output.resolve())
    return _run(study, options)


def _run(study: Study, options: argparse.Namespace) -> int:
    now, store = clock(), study.store
    found = study.collect(now)
    _announce(study, now, options.jobs, found)
    if options.dry_run:
        return 0
    failed = 0
    try:
        for planned in [] if options.collect else study.planned:
            if any(job.digest not in store.finished for job in planned.jobs):
                print(
                    f"reproduce: {planned.part.name}, protocol={planned.protocol}", file=sys.stderr
                )
                failed += study.run(planned, options.jobs) != 0
                study.collect(now)
                store.write(options.rows)
    finally:
        study.collect(now)
        store.write(options.rows)
        write_page(store, options.write_page, options.rows, options.output)
    return int(failed > 0)


def _announce(study: Study, now: float, jobs: int, found: int) -> None:
    """Say how many jobs are kept and left, and how long these take."""
    left = study.left()
    expected = seconds(study.store, left, now)
    print(f"{'part':<15}{'protocol':<10}{'jobs':>6}{'left':>6}  time on {jobs} cores")
    for planned in study.planned:
        own = (left["part"] == planned.part.name) & (left["protocol"] == planned.protocol)
        if own.any():
            time = in_words(float(expected[own].sum()) / jobs)
            print(
                f"{planned.part.name:<15}{planned.protocol:<10}{len(planned.jobs):>6}"
                f"{int(own.sum()):>6}  about {time}"
            )
    total = sum(len(planned.jobs) for planned in study.planned)
    print(
        f"{total} jobs of {len(study.planned)} sweeps; {len(left)} distinct ones left, about "
        f"{in_words(float(expected.sum()) / jobs)}; {found} found finished, "
        f"{study.outdated} kept ones are of an outdated config",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
