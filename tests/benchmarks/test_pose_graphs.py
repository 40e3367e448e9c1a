"""The benchmark of pose graphs, on a small generated one."""

import json

import numpy as np
import pytest

from benchmarks import pose_graphs, pose_report
from benchmarks.pose_metrics import calibration_error, measure, position_error, share_right
from benchmarks.pose_row import disturbed, solve
from benchmarks.pose_truth import heading_optimum, linear_positions, odometry_poses, pose_optimum
from benchmarks.pose_world import manhattan, relative
from gnnsync.angles import wrap
from gnnsync.metrics import aligned_error

CELL = {"count": 15, "kind": "random", "heading": "uniform", "seed": 1}


@pytest.fixture(scope="module")
def world():
    graph, poses = manhattan(200, np.random.default_rng(0))
    return graph, poses


def test_a_generated_world(world):
    graph, poses = world
    start, end = graph.rotations.dst, graph.rotations.src
    exact = relative(poses[start], poses[end])
    np.testing.assert_allclose(np.hypot(*exact[:199, :2].T), 1.0)
    z = wrap(graph.measured_heading - exact[:, 2]) * np.sqrt(graph.rotations.weight)
    assert z.std() == pytest.approx(1.0, abs=0.2)
    assert graph.closures.sum() > 40
    assert np.hypot(*exact[graph.closures, :2].T).max() < 1.3
    assert (end - start)[graph.closures].min() >= 10


def test_the_references_are_near_the_truth_and_each_other(world):
    graph, poses = world
    headings = heading_optimum(graph.rotations)
    assert aligned_error(headings, poses[:, 2]).max() < 0.1
    linear = linear_positions(graph, headings)
    distance = np.hypot(*(linear[:, :2] - linear[0, :2]).T)
    assert np.abs(distance - np.hypot(*(poses[:, :2] - poses[0, :2]).T)).max() < 2
    pytest.importorskip("gtsam")
    optimum = pose_optimum(graph, headings)
    assert aligned_error(optimum[:, 2], headings).max() < 0.1


def test_odometry_alone_gives_exact_poses_of_exact_measurements(world):
    graph, poses = world
    start, end = graph.rotations.dst, graph.rotations.src
    exact = relative(poses[start], poses[end])
    rotations = graph.rotations.replace(offset=exact[:, 2])
    graph = graph.replace(rotations=rotations, translation=exact[:, :2], heading=exact[:, 2])
    found = relative(poses[:1].repeat(200, 0), poses)
    np.testing.assert_allclose(odometry_poses(graph)[:, :2], found[:, :2], atol=1e-9)


def test_gtsam_finds_few_false_closures(world):
    pytest.importorskip("gtsam")
    graph, false = disturbed(world[0], CELL)
    poses, weight = solve(graph, "gtsam_gnc", 0)
    figures = measure(graph.rotations, false, world[1][:, 2], poses[:, 2], weight)
    assert position_error(poses, world[1]) < 0.5
    assert figures["right"] == 1.0
    assert figures["precision_heading"] == 1.0
    assert figures["recall"] > 0.9


def test_figures_of_the_truth_and_of_a_half_turned_one(world):
    graph, false = disturbed(world[0], CELL)
    truth = world[1][:, 2]
    best = measure(graph.rotations, false, truth, truth + 1.0, (~false).astype(float))
    assert (best["right"], best["precision"], best["recall"]) == (1.0, 1.0, 1.0)
    assert best["calibration"] == 0.0
    assert best["mse"] == pytest.approx(0.0, abs=1e-9)
    half = truth + np.where(np.arange(200) < 80, 2.0, 0.0)
    assert share_right(half, truth) == 0.6
    assert share_right(np.array([3.1, -3.1, 0.0]), np.zeros(3)) == pytest.approx(2 / 3)
    nothing = measure(graph.rotations, false, truth, half, np.zeros(graph.num_edges))
    assert (nothing["precision"], nothing["recall"]) == (None, 0.0)


def test_positions_are_compared_after_a_rigid_motion(world):
    poses = world[1]
    c, s = np.cos(1.0), np.sin(1.0)
    moved = poses[:, :2] @ np.array([[c, s], [-s, c]]) + 5.0
    assert position_error(moved, poses) == pytest.approx(0.0, abs=1e-9)
    noise = np.random.default_rng(0).normal(0, 0.1, moved.shape)
    assert position_error(moved + noise, poses) == pytest.approx(0.1 * np.sqrt(2), rel=0.1)


def test_calibration_error_by_hand():
    confidence = np.array([0.95, 0.95, 0.15, 0.15])
    right = np.array([True, False, False, False])
    assert calibration_error(confidence, right) == pytest.approx((0.9 + 0.3) / 4)
    assert calibration_error(np.zeros(0), np.zeros(0, bool)) is None


def test_rows_are_stored_once_and_reported(tmp_path, capsys):
    results = tmp_path / "rows.jsonl"
    command = ["--generated=150", "--methods=spectral_rn", f"--results={results}", "--kinds=local"]
    pose_graphs.main([*command, "--counts=0,5"])
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert [(row["count"], row["kind"], row["status"]) for row in rows] == [
        (0, "none", "ok"),
        (5, "local", "ok"),
    ]
    assert rows[0]["right"] == 1.0
    capsys.readouterr()
    pose_graphs.main([*command, "--counts=0,5", "--report"])
    assert "spectral_rn: right" not in capsys.readouterr().out
    table = results.with_suffix(".md").read_text()
    assert "| manhattan-150 +5 |" in table
    assert results.with_suffix(".png").stat().st_size > 5000


def test_a_time_limit_is_a_row(tmp_path):
    results = tmp_path / "rows.jsonl"
    options = ["--methods=spectral_rn", "--counts=0", "--limit=0.01", f"--results={results}"]
    pose_graphs.main(["--generated=50", *options])
    row = json.loads(results.read_text())
    assert row["status"] == "time limit of 0.01 s"
    pose_graphs.main(["--report", f"--results={results}"])
    assert "| time limit of 0.01 s |" in results.with_suffix(".md").read_text()


def test_what_failed_is_tried_again(tmp_path):
    rows = pose_graphs.Rows(tmp_path / "rows.jsonl")
    cell = dict.fromkeys(pose_graphs.KEY, 0)
    rows.add(cell | {"status": "failed: no memory"})
    assert cell not in pose_graphs.Rows(rows.path)
    rows.add(cell | {"status": "ok"})
    assert cell in pose_graphs.Rows(rows.path)
    assert len(rows.path.read_text().splitlines()) == 1


def test_a_page_keeps_its_text(tmp_path, world):
    row = dict(zip(pose_graphs.KEY, ("g", "d", 3, "random", "normal", 0), strict=False))
    figures = {"right": 0.5, "mse": 1.0, "seconds": 2.0, "precision_heading": None}
    figures |= {"recall": 1.0, "calibration": 0.1, "status": "ok", "machine": "m"}
    rows = [row | figures | {"method": "auto"}]
    rows.append(row | figures | {"method": "gtsam_gnc", "right": 0.9})
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n{pose_report.BEGIN}\nold\n{pose_report.END}\nend\n")
    (tmp_path / "figures").mkdir()
    pose_report.write_report(rows, tmp_path / "rows.jsonl", page)
    text = page.read_text()
    assert text.startswith("# Title\n")
    assert text.endswith(f"{pose_report.END}\nend\n")
    assert "old" not in text
    assert "g +3 (random, normal): auto 0.500, gtsam_gnc 0.900" in text


@pytest.mark.parametrize("arguments", [["--kinds=near"], ["--methods=best"], [], ["/no/folder"]])
def test_arguments_are_checked(arguments, capsys):
    with pytest.raises(SystemExit):
        pose_graphs.main(arguments)
    assert "error" in capsys.readouterr().err
