"""Every `gnnsync run` in the docs names groups, choices and keys that exist."""

import re
import shlex
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# It adds configs of its own, and a test runs all of its commands.
FILES.remove(ROOT / "docs/extending.md")
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(gnnsync run [^`]+)`")
# Placeholders, as in `loss=...` or `experiment=paper/NAME`.
PLACEHOLDER = re.compile(r"\.\.\.|…|\b[A-Z]{2,}\b")


def commands(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    blocks = "\n".join(BLOCK.findall(text)).replace("\\\n", " ")
    lines = [line for line in blocks.splitlines() if line.startswith("gnnsync run ")]
    return lines + [" ".join(found.split()) for found in INLINE.findall(BLOCK.sub("", text))]


def overrides(command: str) -> list[str]:
    """The overrides of a command, each sweep by its first value; placeholders left out."""
    words = [w for w in shlex.split(command, comments=True)[2:] if not w.startswith("-")]
    parser = OverridesParser.create()
    found = []
    for word in words:
        if PLACEHOLDER.search(word):
            continue
        override = parser.parse_override(word)
        if override.is_interval_sweep():
            found.append(f"{word.partition('=')[0]}={override.value().start}")
        elif override.is_sweep_override():
            first = next(iter(override.sweep_string_iterator()))
            found.append(f"{word.partition('=')[0]}={first}")
        else:
            found.append(word)
    return found


CASES = [
    pytest.param(command, id=f"{path.name}: {command}")
    for path in FILES
    for command in dict.fromkeys(commands(path))
]


@pytest.fixture(scope="module", autouse=True)
def configs():
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        yield


@pytest.mark.parametrize("command", CASES)
def test_the_command_can_be_composed(command):
    cfg = compose("config", overrides(command), return_hydra_config=True)
    assert "_target_" in cfg.method


def test_the_check_takes_first_values_and_leaves_placeholders_out():
    assert overrides("gnnsync run -m loss=... data.eta=0,0.5 data.seeds=[1,2]  # why") == [
        "data.eta=0",
        "data.seeds=[1,2]",
    ]
