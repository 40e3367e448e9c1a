"""The process in which `atheris` damages the files of one reader, see `guided`.

    python -m benchmarks.chaos.guided_child READER FIRST COUNT SEED PIPE CASE CORPUS [KEEP]

It writes one line for each damaged file to the descriptor PIPE, and the file itself to CASE before
it is read.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from random import Random

import atheris

# Coverage is that of the package; what is imported before is not instrumented.
with atheris.instrument_imports(include=["gnnsync"], enable_loader_override=False):
    from benchmarks.chaos.guided import LIBFUZZER_OPTIONS
    from benchmarks.chaos.mutations import damage_bytes, spliced
    from benchmarks.chaos.outcomes import FINE, bound_process, outcome_of
    from benchmarks.chaos.readers import Reader, readers

# Largest file: words of 70,000 characters are inserted.
_LARGEST = 150_000
# Shares of damage that is not the reader's own.
_BY_ATHERIS, _SPLICED = 0.15, 0.05


class Attack:
    """Damages files and reads them.

    Args:
        reader: what is attacked.
        cases: numbers of the damaged files.
        pipe: descriptor for the outcomes.
        case: where each file is written.
        keep: folder and name for files that were not fine, without number.
    """

    def __init__(
        self, reader: Reader, cases: range, pipe: int, case: Path, keep: str | None
    ) -> None:
        self.reader, self.cases, self.pipe, self.case, self.keep = reader, cases, pipe, case, keep
        self.at, self.damaged = cases.start, False

    def damage(self, data: bytes, most: int, seed: int) -> bytes:
        """Damaged bytes, at most `most` of them."""
        rng = Random(seed)
        self.damaged = True
        kind = rng.random()
        if kind < _BY_ATHERIS:
            made: bytes = atheris.Mutate(data, most)
            return made
        if kind < _BY_ATHERIS + _SPLICED:
            return spliced((data, *self.reader.seeds), rng)[:most]
        try:
            made = self.reader.damage(data, rng)
        except Exception:  # what is too damaged already to be taken apart
            made = damage_bytes(data, rng)
        return made[:most]

    def read(self, data: bytes) -> None:
        """Read the file; files of the corpus, read again at the start, count only if not fine."""
        self.case.write_bytes(data)
        outcome = outcome_of(self.reader, self.case).replace("\n", " ")
        if self.damaged or outcome not in FINE:
            os.write(self.pipe, f"{outcome}\n".encode("utf-8", "replace"))
            if outcome not in FINE and self.keep is not None:
                shutil.copyfile(self.case, f"{self.keep}-{self.at}.{self.reader.ending}")
            self.at += 1
        self.damaged = False
        # The peak of a process does not fall: the next file gets a fresh one.
        if self.at >= self.cases.stop or outcome.endswith("MB of memory"):
            os._exit(0)


def main(arguments: list[str]) -> None:
    name, first, count, seed, pipe, case, corpus, *keep = arguments
    kept = None
    if keep:
        Path(keep[0]).mkdir(parents=True, exist_ok=True)
        kept = f"{keep[0]}/{Path(corpus).name}-{seed}"
    cases = range(int(first), int(first) + int(count))
    attack = Attack(readers()[name], cases, int(pipe), Path(case), kept)
    bound_process()
    own = int(seed) * 1_000_003 % 2**31 + cases.start + 1
    options = [*LIBFUZZER_OPTIONS, f"-max_len={_LARGEST}", f"-seed={own}"]
    atheris.Setup([sys.argv[0], *options, corpus], attack.read, custom_mutator=attack.damage)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
