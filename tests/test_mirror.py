"""The tests mirror the package: tests/X/test_Y.py tests the module or package gnnsync/X/Y."""

from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "src" / "gnnsync"
# Whole commands, the benchmarks and the documentation are no modules of the package.
OTHER_FOLDERS = {"integration", "benchmarks", "docs"}
# Tests of many modules at once, or of none.
ALLOWED = {
    "test_examples.py": "examples/",
    "test_hashes.py": "scripts/hashes.py",
    "test_import.py": "what the package loads when it is imported",
    "test_layers.py": "the imports of all modules",
    "test_mirror.py": "the tests themselves",
    "test_style.py": "the source text of all modules",
    "test_versions.py": "the ranges of pyproject.toml",
    "*/test_contract.py": "the contract that all parts of a package keep",
    "learn/test_devices.py": "all learned parts on one device",
    "methods/test_accuracy.py": "all methods on the same networks",
    "methods/test_trusted.py": "trusted edges in all methods",
    "experiments/test_configs.py": "the files in conf/",
    "experiments/test_presets.py": "the files in conf/experiment/",
}
MIRRORED = sorted(
    path.relative_to(TESTS)
    for path in TESTS.rglob("test_*.py")
    if path.relative_to(TESTS).parts[0] not in OTHER_FOLDERS
)


def is_allowed(path: Path) -> bool:
    return any(fnmatch(path.as_posix(), pattern) for pattern in ALLOWED)


@pytest.mark.parametrize("path", MIRRORED, ids=str)
def test_a_test_file_has_its_module(path):
    module = PACKAGE / path.parent / path.stem.removeprefix("test_")
    found = module.with_suffix(".py").is_file() or (module / "__init__.py").is_file()
    assert found or is_allowed(path), f"no module gnnsync/{module.relative_to(PACKAGE)}"


@pytest.mark.parametrize("pattern", ALLOWED)
def test_every_exception_is_needed(pattern):
    assert any(fnmatch(path.as_posix(), pattern) for path in MIRRORED)
