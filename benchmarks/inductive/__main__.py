"""Checks of the inductive network against the other methods: `python -m benchmarks.inductive`.

Every check is a ratio or a difference within this run, on one thread; times are processor times
after a first call. The network seeds are not those of the paper's study. `--nearby` changes n, p
and η of every case, to develop without looking at the cases themselves.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

# Before NumPy and torch are imported: they read these once.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from benchmarks.inductive import cases  # noqa: E402
from benchmarks.inductive.accuracy import exact, geometric, noisy  # noqa: E402
from benchmarks.inductive.checks import Check, checks_section  # noqa: E402
from benchmarks.inductive.cost import cost  # noqa: E402
from benchmarks.inductive.groups import groups  # noqa: E402
from benchmarks.inductive.measure import Compared  # noqa: E402
from benchmarks.inductive.pages import renew  # noqa: E402
from benchmarks.inductive.published import published  # noqa: E402
from benchmarks.section import Section  # noqa: E402
from gnnsync.io.files import write_text  # noqa: E402

SECTIONS = {
    "noisy": (noisy, cases.NOISY),
    "geometric": (geometric, cases.GEOMETRIC),
    "exact": (exact, cases.EXACT),
    "groups": (groups, cases.GROUPS),
    "cost": (cost, cases.TIMED),
    "published": (published, cases.STUDY),
}


def main() -> None:
    options = _options()
    seeds = [options.seed + i for i in range(options.networks)]
    compared = Compared(options.weights)
    sections: list[Section] = []
    checks: list[Check] = []
    for name in options.sections.split(","):
        run, listed = SECTIONS[name]
        chosen = [case.nearby() if options.nearby else case for case in listed]
        section, found = run(chosen, seeds, compared)
        print(section.markdown(), flush=True)
        print(checks_section(f"Checks: {name}", found).markdown(), flush=True)
        sections.append(section)
        checks += found
    whole = checks_section("Checks", checks)
    failed = sum(not check.holds for check in checks)
    print(f"{len(checks) - failed} of {len(checks)} checks hold")
    if options.page:
        renew(options.page, {"checks": whole.table()})
    if options.output:
        command = f"python -m benchmarks.inductive --seed {options.seed}"
        head = f"# Measured by `{command} --networks {options.networks}`\n"
        text = "\n".join([head, *(part.markdown() for part in (whole, *sections))])
        write_text(options.output, text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sections", default=",".join(SECTIONS), help="with commas")
    parser.add_argument("--seed", type=int, default=7001, help="seed of the first network")
    parser.add_argument("--networks", type=int, default=2, help="networks per case")
    parser.add_argument("--weights", help="a file of weights; those of the package if not given")
    parser.add_argument("--nearby", action="store_true", help="other n, p and η")
    parser.add_argument("--page", type=Path, help="Markdown file to put the checks into")
    parser.add_argument("--output", type=Path, help="a Markdown file to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
