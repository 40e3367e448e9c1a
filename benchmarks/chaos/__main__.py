"""The promises of docs/reliability.md, attacked.

    python -m benchmarks.chaos                      every attack at full size: a night
    python -m benchmarks.chaos --short              every attack: at most two minutes
    python -m benchmarks.chaos PROMISE [options]    one of them

The exit code is 1 if a promise was broken.
"""

from __future__ import annotations

import datetime
import importlib
import shlex
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """An attack, which the module of its name measures.

    Args:
        text: what is attacked, in words.
        night: options of a run of a night.
        short: options of a run of at most half a minute.
    """

    text: str
    night: tuple[str, ...] = ()
    short: tuple[str, ...] = ()


# Another attack every night; the seed is printed.
_TONIGHT = str(datetime.date.today().toordinal())

PROMISES = {
    "files": Promise(
        "mutated files over all readers",
        ("--count", "100000", "--seed", _TONIGHT),
        ("--count", "200"),
    ),
    "kills": Promise(
        "random SIGKILLs of sweeps",
        ("--count", "200", "--seed", _TONIGHT),
        ("--count", "1", "--launchers", "joblib"),
    ),
    "memory": Promise(
        "many jobs in one process", ("--jobs", "1000"), ("--jobs", "20", "--sweeps", "classical")
    ),
    "relations": Promise(
        "changes of the input that mean nothing change no angle",
        (),
        ("--only", "spectral_rn", "gpm", "irls", "spectral, anchors"),
    ),
    "components": Promise("many small components in little time"),
    "threads": Promise(
        "same seed, same result, with any number of threads",
        (),
        ("--only", "gnc", "--threads", "1", "2"),
    ),
    "adversary": Promise(
        "outliers chosen by an adversary", ("--networks", "1000"), ("--networks", "3")
    ),
}


def main() -> None:
    chosen, *options = sys.argv[1:] or ["--night"]
    if chosen in PROMISES:
        importlib.import_module(f"benchmarks.chaos.{chosen}").main(options)
    elif chosen in ("--night", "--short"):
        sys.exit(all_of_them(PROMISES, short=chosen == "--short"))
    else:
        listed = "\n".join(f"  {name:12} {promise.text}" for name, promise in PROMISES.items())
        sys.exit(f"{__doc__.split('The exit')[0].strip()}\n\nPROMISE is one of\n{listed}")


def all_of_them(promises: dict[str, Promise], *, short: bool) -> bool:
    """Attack every promise, one after the other; whether one was broken."""
    broken = []
    for name, promise in promises.items():
        options = promise.short if short else promise.night
        print(f"\npython -m benchmarks.chaos {shlex.join([name, *options])}", flush=True)
        start = time.monotonic()
        try:
            importlib.import_module(f"benchmarks.chaos.{name}").main(list(options))
        except SystemExit as end:
            broken += [name] if end.code else []
        print(f"{time.monotonic() - start:.0f} s", flush=True)
    print(f"\nbroken: {', '.join(broken) or 'none'}")
    return bool(broken)


if __name__ == "__main__":
    main()
