"""The tools that check the code, its limits of size, and that nothing is written twice."""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MOST_LINES, MOST_FUNCTION_LINES = 400, 60
LEAST_REPEATED_LINES = 6


@pytest.mark.parametrize(
    "command",
    [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_tools_find_nothing(command):
    run = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_files_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= MOST_FUNCTION_LINES, f"{node.name} has {length} lines"


def code_lines(source: str) -> list[tuple[int, str]]:
    """Numbered lines without indentation, imports, docstrings, comments and lone brackets.

    Signatures are left out as well: parts of one kind share an interface on purpose.
    """
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.FunctionDef):
            left_out |= set(range(node.lineno, node.body[0].lineno))
        if text or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = ((i, line.strip()) for i, line in enumerate(source.splitlines(), 1))
    return [
        (i, line)
        for i, line in lines
        if i not in left_out and not line.startswith("#") and any(c.isalnum() for c in line)
    ]


def repeated(sources: dict[str, str]) -> list[tuple[str, ...]]:
    """Places (`name:line`) where the same run of LEAST_REPEATED_LINES code lines begins."""
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, source in sources.items():
        lines = code_lines(source)
        for start in range(len(lines) - LEAST_REPEATED_LINES + 1):
            run = lines[start : start + LEAST_REPEATED_LINES]
            places[tuple(line for _, line in run)].append(f"{name}:{run[0][0]}")
    return [tuple(found) for found in places.values() if len(found) > 1]


def test_nothing_is_written_twice():
    sources = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in SOURCES}
    assert repeated(sources) == []


def test_the_check_sees_what_is_written_twice():
    body = [f"    x = f({i})" for i in range(LEAST_REPEATED_LINES)]
    one = "\n".join(["def a():", '    """Doc."""', *body])
    two = "\n".join(["import os", "def b():", *body[:2], "    # why", "", *body[2:]])
    assert repeated({"one": one, "two": two}) == [("one:3", "two:3")]
    signature = ", ".join(f"a{i}" for i in range(LEAST_REPEATED_LINES)).replace(", ", ",\n")
    same = {name: f"def {name}(\n{signature}\n):\n    return '{name}'" for name in ("one", "two")}
    assert repeated(same) == []
    assert repeated({"one": one, "two": two.replace("f(3)", "f(4)")}) == []
