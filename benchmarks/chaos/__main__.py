"""`python -m benchmarks.chaos PROMISE [options]`: the promises of docs/reliability.md."""

from __future__ import annotations

import importlib
import sys

# Name on the command line: what the module of that name in benchmarks.chaos measures.
PROMISES = {
    "files": "mutated files over all readers",
    "kills": "random SIGKILLs of sweeps",
    "relations": "changes of the input that mean nothing change no angle",
    "components": "many small components in little time",
    "adversary": "outliers chosen by an adversary",
}


def main() -> None:
    chosen = sys.argv[1] if len(sys.argv) > 1 else ""
    if chosen not in PROMISES:
        listed = "\n".join(f"  {name:12} {text}" for name, text in PROMISES.items())
        sys.exit(f"python -m benchmarks.chaos PROMISE [options], where PROMISE is one of\n{listed}")
    importlib.import_module(f"benchmarks.chaos.{chosen}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
