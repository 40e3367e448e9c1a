"""scripts/hashes.py: the pins of constraints.txt with the hashes of their files."""

import os
import re
import runpy
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "hashes.py"
HASHES = runpy.run_path(str(SCRIPT))


def package(name, version, **archive):
    return {
        "metadata": {"name": name, "version": version},
        "download_info": {"url": "https://host/file.whl", "archive_info": archive},
    }


def test_every_constraint_is_a_pin():
    pins = HASHES["read_pins"](HASHES["CONSTRAINTS"].read_text(encoding="utf-8"))
    assert len(pins) > 100
    assert "torch" in {pin.split("==")[0] for pin in pins}


@pytest.mark.parametrize("line", ["numpy>=2", "numpy", "-r other.txt", "numpy==2.*", "a==1; b"])
def test_what_is_no_pin_is_refused(line):
    with pytest.raises(ValueError, match="must be name==version"):
        HASHES["read_pins"](f"# a comment\ntorch==2.6.0\n{line}\n")


def test_a_report_becomes_sorted_lines_without_servers():
    digest = "0" * 64
    report = {
        "install": [
            package("Zeta", "2.0+cpu", hashes={"sha256": digest}),
            package("alpha", "1", hashes={"sha256": digest}),
        ]
    }
    assert HASHES["hashed"](report) == (
        f"alpha==1 \\\n    --hash=sha256:{digest}\nzeta==2.0+cpu \\\n    --hash=sha256:{digest}\n"
    )


@pytest.mark.parametrize("archive", [{}, {"hashes": {}}, {"hashes": {"sha256": "abc"}}])
def test_a_file_without_hash_is_an_error(archive):
    with pytest.raises(ValueError, match="pip knows no SHA-256"):
        HASHES["hashed"]({"install": [package("alpha", "1", **archive)]})


@pytest.fixture
def wheels(tmp_path):
    """A folder with one tiny wheel, which is all that pip is shown."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "value = 1\n")
        about = "tiny-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{about}/WHEEL", tag)
        wheel.writestr(f"{about}/RECORD", f"tiny.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n")
    return folder


def test_a_pin_is_installed_with_its_hash_and_no_other_file_is(wheels, tmp_path):
    environment = {name: value for name, value in os.environ.items() if "PIP_" not in name}
    environment |= {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_CONFIG_FILE": os.devnull,
    }
    pins, requirements = tmp_path / "constraints.txt", tmp_path / "requirements.txt"
    pins.write_text("# pinned\ntiny==1.0\n")

    def run(*command):
        return subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True, check=False
        )

    made = run(str(SCRIPT), str(pins))
    assert made.returncode == 0, made.stderr
    wheel = wheels / "tiny-1.0-py3-none-any.whl"
    assert (
        made.stdout == f"tiny==1.0 \\\n    --hash=sha256:{sha256(wheel.read_bytes()).hexdigest()}\n"
    )
    requirements.write_text(made.stdout)
    install = ["-m", "pip", "install", "--no-deps", "--require-hashes", "-r", str(requirements)]
    assert run(*install, "--target", str(tmp_path / "right")).returncode == 0
    assert (tmp_path / "right" / "tiny.py").is_file()
    with zipfile.ZipFile(wheel, "a") as changed:
        changed.writestr("more.py", "value = 2\n")
    refused = run(*install, "--target", str(tmp_path / "wrong"))
    assert refused.returncode != 0
    assert re.search("do not match the hashes", refused.stderr, re.IGNORECASE)
