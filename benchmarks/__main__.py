"""Speed and scale on this machine, by one command: `python -m benchmarks`.

Everything is measured side by side in one run, as ratios with their spread, and written to
`benchmarks/results/`: `README.md` with the tables and the machine, `results.json`, `speed.png`.
`--sections step,growth` measures only some and keeps the others' last figures.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

# Before NumPy and torch are imported: they read these once.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from benchmarks import framework, growth, launchers, methods, step  # noqa: E402
from benchmarks.draw import draw  # noqa: E402
from benchmarks.machine import describe  # noqa: E402
from benchmarks.section import Section  # noqa: E402

RESULTS = Path(__file__).parent / "results"


def sections(repeats: int) -> dict[str, Callable[[], Section]]:
    return {
        "step": lambda: step.measure(repeats),
        "framework": lambda: framework.measure(max(repeats // 2, 1)),
        "methods": lambda: methods.measure(repeats),
        "growth": growth.measure,
        "large": growth.measure_methods,
        "launchers": launchers.measure,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = sections(1)
    parser.add_argument("--sections", default=",".join(every), help="some of " + ", ".join(every))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    wanted = arguments.sections.split(",")
    unknown = sorted(set(wanted) - set(every))
    if unknown:
        parser.error(f"--sections {unknown[0]}: must be some of {', '.join(every)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    stored = arguments.output / "results.json"
    content = json.loads(stored.read_text()) if stored.exists() else {}
    for name, measure in sections(arguments.repeats).items():
        if name in wanted:
            section = measure()
            print(section.markdown(), flush=True)
            content[name] = asdict(section) | {
                "machine": describe(),
                "date": time.strftime("%Y-%m-%d"),
            }
            # After each section: an interrupted run keeps what it has measured.
            _write(content, arguments.output)


def _write(content: dict, folder: Path) -> None:
    (folder / "results.json").write_text(json.dumps(content, indent=1) + "\n")
    keys = ("title", "header", "rows", "note")
    tables = [Section(*(content[name][key] for key in keys)) for name in content]
    machines = {json.dumps(part["machine"]) for part in content.values()}
    described = "\n".join(
        "- " + ", ".join(f"{key} {value}" for key, value in json.loads(machine).items())
        for machine in sorted(machines)
    )
    text = "# Measured by `python -m benchmarks`\n\n![speed](speed.png)\n\n"
    text += "\n".join(table.markdown() for table in tables)
    (folder / "README.md").write_text(text + f"\n## Machine\n\n{described}\n")
    draw(content).savefig(folder / "speed.png", dpi=130)


if __name__ == "__main__":
    main()
