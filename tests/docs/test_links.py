"""Markdown files: links and images lead somewhere, lists and tables are seen as such."""

import itertools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "benchmarks/results/README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def prose(path: Path) -> str:
    return CODE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Anchors of a file's headings: lower case, no punctuation, hyphens for blanks."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(path: Path) -> list[str]:
    found = []
    for target in LINK.findall(prose(path)):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        goal = (path.parent / name).resolve() if name else path
        if not goal.exists() or (anchor and anchor not in anchors(goal)):
            found.append(target)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_exist(path):
    assert broken(path) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lists_and_tables_are_rendered(path):
    """MkDocs needs an empty line before them, and four spaces before the items of an inner list."""
    item = re.compile(r"\s*(?:[-*]|\d+\.) ")
    lines = prose(path).splitlines()
    for before, line in itertools.pairwise(lines):
        if item.match(line) and not line.startswith("    "):
            assert not line.startswith(" "), line
            assert not before or item.match(before) or before.startswith(" "), line
        if line.startswith("|"):
            assert not before or before.startswith("|"), line


def test_the_check_sees_missing_files_and_anchors(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n[a](page.md#a-title) [b](none.md) ![c](x.png) [d](#no)\n")
    assert broken(page) == ["none.md", "x.png", "#no"]
