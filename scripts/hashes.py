"""Print the pins of constraints.txt with the hashes of their files, for `--require-hashes`.

    .venv/bin/python scripts/hashes.py > requirements.txt
    pip install --no-deps --require-hashes -r requirements.txt
    pip install --no-deps .
    pip check

pip itself says which files it would install on this machine, with this Python and its settings, and
what their hashes are. The file holds for machines of this kind; it names no server. The pins are
complete, so that nothing depends on what is not among them: `pip check` says if it does.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+_-]+)")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def read_pins(text: str) -> list[str]:
    """The pins `name==version` of a constraints file, without comments."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    pins = [line for line in lines if line]
    for pin in pins:
        if not _PIN.fullmatch(pin):
            raise ValueError(f"{pin!r} is no pin: must be name==version")
    return pins


def resolve(pins: list[str]) -> dict[str, Any]:
    """What pip would install for the pins: its report."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, report = Path(folder) / "pins.txt", Path(folder) / "report.json"
        wanted.write_text("\n".join(pins) + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
        command += ["--ignore-installed", "--report", str(report), "-r", str(wanted)]
        subprocess.run(command, check=True, stdout=sys.stderr)
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


def hashed(report: dict[str, Any]) -> str:
    """The requirements file of pip's report, sorted by name."""
    lines = []
    for package in report["install"]:
        name, version = package["metadata"]["name"], package["metadata"]["version"]
        digest = package["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
        if digest is None or not _DIGEST.fullmatch(digest):
            raise ValueError(f"{name}=={version}: pip knows no SHA-256 of its file")
        lines.append(f"{name.lower()}=={version} \\\n    --hash=sha256:{digest}\n")
    return "".join(sorted(lines))


def main(arguments: list[str]) -> None:
    """Print the file, or one line that says why there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("constraints", nargs="?", type=Path, default=CONSTRAINTS)
    options = parser.parse_args(arguments)
    try:
        pins = read_pins(options.constraints.read_text(encoding="utf-8"))
        print(hashed(resolve(pins)), end="")
    except (OSError, ValueError) as error:
        sys.exit(f"hashes: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"hashes: pip ended with {error.returncode}")


if __name__ == "__main__":
    main(sys.argv[1:])
