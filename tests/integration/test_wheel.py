"""The wheel carries its configs and runs from any folder."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    pytest.importorskip("hatchling", reason="hatchling builds the wheel; install the dev extra")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--wheel-dir",
            str(folder),
            str(ROOT),
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    (found,) = folder.glob("gnnsync-*.whl")
    return found


def test_wheel_holds_every_config(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for path in (ROOT / "conf").rglob("*.yaml"):
        assert f"gnnsync/conf/{path.relative_to(ROOT / 'conf')}" in names


@pytest.mark.parametrize("folder", ["gnnsync/report/page", "gnnsync/plots/page"])
def test_wheel_holds_what_the_pages_are_made_of(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    source = ROOT / "src" / folder
    parts = [path for path in source.iterdir() if path.suffix in (".html", ".css", ".js")]
    assert {path.suffix for path in parts} == {".html", ".css", ".js"}
    assert {f"{folder}/{path.name}" for path in parts} <= names


def test_installed_wheel_runs_from_another_folder(wheel, tmp_path):
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    # The dependencies come from this environment; gnnsync itself from the wheel, which is first.
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    (packages / "zz_dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code = "from gnnsync.experiments.paths import conf_dir; print(conf_dir())"
    where = subprocess.run(
        [str(python), "-c", code], cwd=elsewhere, capture_output=True, text=True, check=True
    )
    assert where.stdout.strip() == str(packages / "gnnsync" / "conf")
    done = subprocess.run(
        [str(home / "bin" / "gnnsync"), "run", "debug=fast", "data.n=30", "data.p=0.4"],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((elsewhere / "outputs").rglob("result.json"))) == 1
