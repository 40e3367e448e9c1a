"""The tools that keep the code tidy, and the border between library and app."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "gnnsync"
APP_ONLY = {"hydra", "omegaconf", "wandb"}


def is_app(path: Path) -> bool:
    inside = path.relative_to(PACKAGE)
    in_app_folder = inside.parts[0] in {"experiments", "report"}
    return in_app_folder or path == PACKAGE / "cli.py" or path.stem.endswith("_command")


LIBRARY = sorted(path for path in PACKAGE.rglob("*.py") if not is_app(path))


@pytest.mark.parametrize(
    "command",
    [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_tools_are_content(command):
    run = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def imported_packages(source: str) -> set[str]:
    """Top-level names of all absolute imports, also those inside functions and conditions."""
    packages = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            packages |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.split(".")[0])
    return packages


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_library_imports_no_app_framework(path):
    assert not imported_packages(path.read_text(encoding="utf-8")) & APP_ONLY


def test_importing_the_library_does_not_load_the_app():
    """A function may draw on `report` when it is called; loading a library module may not."""
    app = ("gnnsync.experiments", "gnnsync.report", "gnnsync.cli")
    offenders = [
        str(path.relative_to(PACKAGE))
        for path in LIBRARY
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(app)
    ]
    assert not offenders


def test_the_import_check_sees_every_form():
    for line in ("import hydra", "from hydra.utils import x", "def f():\n    import wandb.sdk"):
        assert imported_packages(line) & APP_ONLY
    assert not imported_packages("from gnnsync import hydra_like") & APP_ONLY
