"""`gnnsync show RUN`: how a run was made, what it found, and its files."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

import yaml

from gnnsync.cli.list import OUTPUTS
from gnnsync.cli.terminal.errors import exit_code
from gnnsync.cli.terminal.parser import OneLineParser
from gnnsync.errors import printable
from gnnsync.results.files import CONFIG, read_result
from gnnsync.results.listing import RunFolder, find_run, overrides_of, summarise_run
from gnnsync.results.reading import read_yaml
from gnnsync.results.rows import final_metrics

# Where a run was put and how it was watched is no part of what differs from the defaults.
_ASIDE = ("output_dir", "sweep", "print_config")


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code."""
    arguments = parser().parse_args(argv)
    return exit_code("gnnsync show", lambda: _run(arguments))


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = OneLineParser(
        "gnnsync show",
        description="Show a run: the command that makes it again, its errors, what differs from "
        "the default config, its files, and the whole config.",
    )
    made.add_argument(
        "run",
        metavar="RUN",
        help="folder of the run, the first digits of its hash, or `latest`",
    )
    made.add_argument(
        "--dir",
        type=Path,
        default=OUTPUTS,
        metavar="DIR",
        help="where hashes and `latest` are looked up (default: outputs)",
    )
    made.add_argument("--json", action="store_true", help="print a JSON object")
    return made


def _run(arguments: argparse.Namespace) -> None:
    about = _about(find_run(arguments.run, arguments.dir))
    print(json.dumps(about, indent=1) if arguments.json else _text_of(about))


def _about(run: RunFolder) -> dict[str, Any]:
    summary, result = summarise_run(run), read_result(run.path)
    overrides = overrides_of(run)
    config = read_yaml(run.path / CONFIG)
    config.pop("logger", None)  # of another version or hand; may hold a key
    files = sorted(path for path in run.path.rglob("*") if path.is_file())
    return {
        "run": str(run.path),
        "status": run.status,
        "date": run.date,
        "method": summary.method,
        "data": summary.data,
        "reason": summary.reason,
        "command": None if overrides is None else shlex.join(["gnnsync", "run", *overrides]),
        "seconds": None if result is None else result.get("seconds"),
        "replicas": 0 if result is None else len(result["rows"]),
        "means": {} if result is None else final_metrics(result["rows"]),
        "differences": _differences(config),
        "files": {
            path.relative_to(run.path).as_posix(): path.stat().st_size
            for path in files
            if not path.name.startswith(".")
        },
        "config": config,
    }


def _differences(config: dict[str, Any]) -> dict[str, list[Any]]:
    """Keys of a run's config that differ from the default config: the value and the default."""
    # Hydra takes a quarter of a second to load.
    from gnnsync.experiments.config.differences import differences

    found = differences(config) if config else {}
    return {key: list(pair) for key, pair in found.items() if key not in _ASIDE}


def _text_of(about: dict[str, Any]) -> str:
    return "\n".join(map(printable, _lines(about)))


def _lines(about: dict[str, Any]) -> list[str]:
    took = "" if about["seconds"] is None else f", took {about['seconds']:.1f} s"
    lines = [f"{about['run']}: {about['status']}, {about['date']}{took}"]
    if about["reason"]:
        lines.append(f"reason: {about['reason']}")
    lines.append(f"{about['method']} on {about['data']}")
    lines += ["", "command:", f"  {about['command'] or 'not known'}"]
    if about["means"]:
        lines += ["", f"means, replicas: {about['replicas']}"]
        lines += _columns([(name, f"{value:.4g}") for name, value in about["means"].items()])
    lines += ["", "differs from the default config in:"]
    different = [
        (key, f"{_text(value)}  (default {_text(default)})")
        for key, (value, default) in about["differences"].items()
    ]
    lines += _columns(different) or ["  nothing"]
    lines += ["", "files:"]
    lines += _columns([(name, f"{size:,} bytes") for name, size in about["files"].items()])
    if about["config"]:
        text = yaml.safe_dump(about["config"], sort_keys=False)
        lines += ["", "config:", *(f"  {line}" for line in text.splitlines())]
    return lines


def _columns(pairs: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in pairs), default=0)
    return [f"  {name.ljust(width)}  {value}" for name, value in pairs]


def _text(value: Any) -> str:
    return "not set" if value is None else json.dumps(value)
