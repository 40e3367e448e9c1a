"""Every promise in the docs names a test that exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["sweeps.md", "reliability.md"])
def test_the_tests_that_a_page_names_exist(page):
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / page).read_text(encoding="utf-8")))
    assert named
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    found = {name for text in sources for name in re.findall(r"def (test_\w+)", text)}
    assert named <= found, named - found
