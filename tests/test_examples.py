"""Every worked example runs as its page says, and does what it claims."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name, *arguments):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](*arguments)


def test_every_example_is_tested():
    tested = {"clock_synchronization", "patch_stitching", "pose_graph", "pyg_encoder"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == tested


def test_clock_synchronization(capsys):
    assert run("clock_synchronization") < 0.5
    printed = capsys.readouterr().out
    assert printed.count("station-") == 12
    assert "of 48 readings contradict the rest" in printed


def test_patch_stitching(capsys, tmp_path):
    assert run("patch_stitching", str(tmp_path / "map.png")) < 0.1
    assert "426 patches" in capsys.readouterr().out
    assert (tmp_path / "map.png").stat().st_size > 10_000


def test_pose_graph():
    odometry, solution = run("pose_graph")
    assert solution < 2.0
    assert solution < odometry / 2


def test_pyg_encoder(capsys):
    errors = run("pyg_encoder")
    assert set(errors) == {"features", "GCNConv", "DirGNNConv(GATConv)"}
    # All angles equal would have about 4: both networks have learned from the measurements.
    assert max(errors.values()) < 0.3
    assert "angles_GCNConv=[120, 1]" in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_the_guide_shows_the_command(path):
    guide = EXAMPLES.parent / "docs" / "examples.md"
    assert f"python examples/{path.name}" in guide.read_text(encoding="utf-8")
