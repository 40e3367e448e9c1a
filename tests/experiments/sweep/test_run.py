"""Sweeps started, started again, on disks that are full, read-only or hold broken files."""

from __future__ import annotations

import gc
import json
import logging
import os
import re
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path
from unittest import mock

import psutil
import pytest

from gnnsync.experiments import app
from gnnsync.results.locks import claim, claimed
from tests.command import main
from tests.damage import KINDS

SWEEP = [
    *("run", "-m", "data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1"),
    *("figures=false", "logger=none", "method=spectral,trivial", "data.eta=0.1,0.2", "sweep=runs"),
]


@pytest.fixture(autouse=True)
def logging_as_before():
    """Hydra configures the root logger; other tests should not notice."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def sweep(tmp_path, capsys):
    def run(*overrides: str, folder: Path = tmp_path, code: int = 0) -> str:
        assert main([*SWEEP, f"output_dir={folder}", *overrides]) == code
        return capsys.readouterr().err

    return run


def results(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("result.json"))}


def test_a_sweep_tells_what_is_new_done_and_failed(sweep, tmp_path):
    assert "gnnsync: 4 jobs: 0 done, 0 failed before, 4 new\n" in sweep()
    before = results(tmp_path)
    again = sweep()
    assert "gnnsync: 4 jobs: 4 done, 0 failed before, 0 new\n" in again
    assert "took" not in again, "no launcher was started"
    assert results(tmp_path) == before
    more = sweep("data.eta=0.2,0.3")
    assert (
        "4 jobs: 2 done, 0 failed before, 2 new; 2 finished jobs in the folder with other" in more
    )
    failing = ["data.p=0.01,0.4", "data.max_draws=2", "method=trivial"]
    failed = sweep(*failing, code=1)
    assert "2 of 4 jobs failed" in failed
    assert "no connected measurement graph in 2 draws" in failed
    assert "4 jobs: 2 done, 2 failed before, 0 new" in sweep(*failing, code=1)


def test_points_that_make_the_same_job_are_run_once(sweep, tmp_path):
    told = sweep("loss=upset,cycle,sum", "trainer.profiler=null,simple")
    assert "4 jobs: 0 done, 0 failed before, 4 new; 20 further points" in told
    assert len(results(tmp_path)) == 4


def test_the_jobs_of_a_sweep_are_listed_beside_them(sweep, tmp_path):
    sweep("sweep=study/one")
    listed = json.loads((tmp_path / "study/one/jobs.json").read_text())["jobs"]
    folders = {
        path.parent.name: json.loads(text)["job_hash"] for path, text in results(tmp_path).items()
    }
    assert {job["folder"]: job["job_hash"] for job in listed} == folders
    assert {"method=trivial", "data.eta=0.2"} < set(listed[-1]["overrides"])


def test_folders_have_readable_names_and_a_link_to_the_latest(sweep, tmp_path):
    sweep("data.k=1,2", "method=spectral_rn", "data.eta=0.2")
    folders = [path.parent for path in results(tmp_path)]
    assert [folder.name[:-8] for folder in folders] == [
        "spectral_rn-ero-p0.4-eta0.2-",
        "spectral_rn-ero-p0.4-eta0.2-k2-",
    ]
    latest = max(folders, key=lambda folder: (folder / "result.json").stat().st_mtime_ns)
    assert (tmp_path / "runs" / "latest").resolve() == latest
    assert "2 jobs: 2 done, 0 failed before, 0 new\n" in sweep(
        "data.k=1,2", "method=spectral_rn", "data.eta=0.2"
    )


def test_a_result_of_another_job_in_the_folder_does_not_count(sweep, tmp_path):
    sweep()
    path = next(iter(results(tmp_path)))
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"job_hash": content["job_hash"][:8] + "0" * 8}))
    assert "4 jobs: 3 done, 0 failed before, 1 new" in sweep()


def test_a_preset_may_sweep_in_hydras_way_and_in_batches(sweep, tmp_path):
    presets = tmp_path / "conf" / "experiment"
    presets.mkdir(parents=True)
    (presets / "mine.yaml").write_text(
        "# @package _global_\nhydra:\n  sweeper:\n    max_batch_size: 1\n"
        "    params:\n      data.k: 1,2\n      data.eta: 0.1,0.2,0.3\n"
    )
    command = ["experiment=mine", "method=trivial", f"--config-dir={tmp_path / 'conf'}"]
    told = sweep(*command)
    assert "4 jobs: 0 done" in told, "an axis of the command line replaces that of the preset"
    assert len(results(tmp_path)) == 4


@pytest.mark.parametrize("content", [b'{"status": "success"', b"\xff\xfe\x00"])
def test_a_corrupt_result_is_run_again_and_the_others_are_kept(sweep, tmp_path, content):
    sweep()
    before = results(tmp_path)
    broken, *others = before
    broken.write_bytes(content)
    assert "4 jobs: 3 done, 0 failed before, 1 new" in sweep()
    after = results(tmp_path)
    assert all(after[path] == before[path] for path in others)
    assert (
        json.loads(after[broken])["rows"][0]["mse"] == json.loads(before[broken])["rows"][0]["mse"]
    )


def test_a_job_that_another_process_runs_is_left_to_it(sweep, tmp_path, monkeypatch):
    import gnnsync.experiments.sweep.launch as launch

    sweep()
    taken = next(iter(results(tmp_path)))
    content = taken.read_bytes()
    taken.unlink()
    with claim(taken.parent) as mine:
        assert mine
        assert claimed(taken.parent)

        def other_sweep_ends(_: float) -> None:
            taken.write_bytes(content)
            monkeypatch.setattr(launch, "claimed", lambda _: False)

        monkeypatch.setattr(launch.time, "sleep", other_sweep_ends)
        told = sweep()
    assert "waiting for 1 job that another sweep is running" in told
    assert taken.read_bytes() == content
    assert not claimed(taken.parent)


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk is not allowed here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def remount(disk: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], check=True)


def test_a_full_disk_costs_only_what_was_not_finished(sweep, small_disk):
    sweep("method=trivial", "data.eta=0.1", folder=small_disk)
    before = results(small_disk)
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as handle, suppress(OSError):
        while True:
            handle.write(bytes(4096))
    with filler.open("r+b") as handle:  # room for the list of jobs, not for their results
        handle.truncate(filler.stat().st_size - 12_288)
    told = sweep(folder=small_disk, code=1)
    assert "No space left" in told
    undone = sum(
        int(count) for count in re.findall(r"gnnsync: (\d) of 4 jobs (?:failed|left)", told)
    )
    finished = results(small_disk)
    assert len(finished) == 4 - undone < 4
    assert {path: finished[path] for path in before} == before
    filler.unlink()
    assert f"4 jobs: {len(finished)} done" in sweep(folder=small_disk)
    after = results(small_disk)
    assert len(after) == 4
    assert {path: after[path] for path in finished} == finished
    assert not [path for path in small_disk.rglob("*") if path.name.endswith((".tmp", ".partial"))]


def test_a_read_only_folder_is_refused_before_any_work(sweep, small_disk):
    sweep("method=trivial", folder=small_disk)
    before = results(small_disk)
    remount(small_disk, "ro")
    told = sweep(folder=small_disk, code=2)
    assert told.startswith(f"gnnsync: output_dir: cannot write in {small_disk} (Read-only file")
    assert told.count("\n") == 1
    assert results(small_disk) == before


def test_several_presets_follow_each_other(tmp_path, capsys):
    presets = "experiment=paper/main_k1,paper/main_k2"
    small = ["data=ero", "data.n=30", "data.p=0.4", "data.eta=0.1", "data.seeds=[10]", "trials=1"]
    assert main(["run", "-m", presets, *small, "method=trivial", f"output_dir={tmp_path}"]) == 0
    assert "gnnsync: 2 jobs: 0 done, 0 failed before, 2 new; 2 further" in capsys.readouterr().err
    assert {path.parents[1].name for path in results(tmp_path)} == {"main_k1", "main_k2"}


def test_a_search_started_again_finds_its_jobs(tmp_path, capsys):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    search = [
        *("run", "-m", "experiment=tune", "hydra.sweeper.n_trials=2", "hydra.sweeper.n_jobs=1"),
        *("data.n=30", "data.p=0.4", "data.seeds=[10]", "trainer.max_steps=3", "logger=none"),
        *("optimizer=adam", "model.steps.alpha=interval(0.1,2)", f"output_dir={tmp_path}"),
    ]
    assert main(search) == 0
    before = results(tmp_path)
    assert len(before) == 2
    best = (tmp_path / "tune" / "optimization_results.yaml").read_text()
    assert "model.steps.alpha" in best
    assert "optimizer: " not in best, "what is given is not searched"
    assert "2 of 2 jobs done" in capsys.readouterr().err
    assert main(search) == 0
    assert capsys.readouterr().err.count("is done already") == 2
    assert results(tmp_path) == before


def test_a_search_without_a_name_has_a_folder_of_its_own(tmp_path, capsys):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    search = ["run", "-m", "hydra/sweeper=search", "hydra.sweeper.n_trials=2", "logger=none"]
    small = ["hydra.sweeper.n_jobs=1", "data.n=30", "data.p=0.4", "data.seeds=[10]"]
    more = ["method=irls", "data.eta=interval(0.1,0.2)", f"output_dir={tmp_path}"]
    assert main([*search, *small, *more]) == 0
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert folder.name.endswith("_data.eta")
    assert (folder / "optimization_results.yaml").exists()
    assert len(results(folder)) == 2
    told = capsys.readouterr().err
    assert f"sweep={folder.name}" in told
    assert "gnnsync: 2 of 2 jobs done, 0 running, 0 failed, 0 left; took " in told
    assert "setup plugin" not in told


def test_a_search_without_a_single_success_says_so(tmp_path, capsys):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    search = ["run", "-m", "experiment=tune", "hydra.sweeper.n_trials=1", "logger=none"]
    failing = ["data.n=30", "data.p=0.01", "data.max_draws=1", f"output_dir={tmp_path}"]
    assert main([*search, *failing]) == 1
    told = capsys.readouterr().err
    assert "1 job failed" in told
    assert "gnnsync: the search stopped: No trials are completed yet." in told


def test_a_cluster_that_is_not_there_is_one_sentence(capsys, tmp_path):
    pytest.importorskip("hydra_plugins.hydra_ray_launcher")
    address = "hydra.launcher.ray.init.address=127.0.0.1:1"
    sweep = ["run", "-m", "hydra/launcher=ray", address, "method=trivial", "data.eta=0,0.1"]
    assert main([*sweep, f"output_dir={tmp_path}"]) == 2
    told = capsys.readouterr().err
    assert "gnnsync: no job could be started: no Ray cluster at 127.0.0.1:1" in told
    assert "Traceback" not in told


def test_sweeps_without_a_name_do_not_mix(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    unnamed = [text for text in SWEEP if text != "sweep=runs"]
    for noise in ("0.1,0.2", "0.3,0.4"):
        assert main([*unnamed, f"data.eta={noise}"]) == 0
    first, second = sorted(path for path in (tmp_path / "outputs").iterdir() if path.is_dir())
    told = capsys.readouterr().err
    for folder, noise in ((first, "0.1"), (second, "0.3")):
        assert folder.name.endswith("_method-data.eta")
        rows = (folder / "rows.csv").read_text().splitlines()
        assert len(rows) == 5
        assert any(noise in row for row in rows[1:])
        (line,) = [line for line in told.splitlines() if f"sweep={folder.name}" in line]
        command = shlex.split(line.removeprefix("gnnsync: to continue this sweep: "))
        assert command[:2] == ["gnnsync", "run"]
        before = results(folder)
        assert main(command[1:]) == 0
        assert "4 jobs: 4 done, 0 failed before, 0 new" in capsys.readouterr().err
        assert results(folder) == before


def test_output_of_jobs_goes_to_their_logs(tmp_path, capsys):
    noisy = ["method=irls,trivial", "data.p=0.01,0.4", "data.max_draws=2", "sweep=study"]
    assert main([*SWEEP, *noisy, "data.eta=0.1", f"output_dir={tmp_path}"]) == 1
    seen = capsys.readouterr()
    assert not seen.out
    logs = {path.parent.name: path.read_text() for path in tmp_path.rglob("job.log")}
    assert len(logs) == 4
    for name, text in logs.items():
        fails = "p0.01" in name
        assert ("ERROR" in text) == fails
        assert ("done: " in text) != fails
    failures = [line for line in seen.err.splitlines() if line.startswith("gnnsync: failed: ")]
    assert len(failures) == 2
    assert all("data.p=0.01" in line for line in failures)
    assert all("no connected measurement graph" in line for line in failures)
    assert all(line.endswith("/job.log)") for line in failures)
    lines = seen.err.splitlines()
    assert lines.index(failures[-1]) < lines.index("gnnsync: 2 of 4 jobs failed:")
    assert "gnnsync: 2 of 4 jobs done, 0 running, 2 failed, 0 left; took " in seen.err


def without_times(content: bytes) -> list[dict[str, object]]:
    rows = json.loads(content)["rows"]
    return [{k: v for k, v in row.items() if not k.startswith("seconds")} for row in rows]


def test_a_job_whose_result_is_broken_runs_again(sweep, tmp_path):
    etas = ",".join(f"{0.02 * (i + 1):.2f}" for i in range(len(KINDS)))
    grid = ["method=trivial", f"data.eta={etas}"]
    sweep(*grid)
    whole = results(tmp_path)
    for (path, content), damage in zip(whole.items(), KINDS.values(), strict=True):
        path.write_bytes(damage(content))
        path.with_name("failure.json").write_bytes(damage(content))
    (tmp_path / "runs" / "jobs.json").write_bytes(b"[" * 1000)
    told = sweep(*grid)
    assert f"gnnsync: {len(KINDS)} jobs: 0 done" in told
    healed = results(tmp_path)
    assert {p: without_times(c) for p, c in healed.items()} == {
        p: without_times(c) for p, c in whole.items()
    }
    assert json.loads((tmp_path / "runs" / "jobs.json").read_text())["jobs"]


def test_memory_and_open_files_do_not_grow_with_the_number_of_jobs(tmp_path):
    """In one process, after a warm-up: objects, since the memory of a test's process is noisy."""
    warm, jobs = 10, 25
    seen: list[tuple[int, int]] = []
    process = psutil.Process()

    def look(cfg):
        value = run_task(cfg)
        number = len(list(tmp_path.rglob("result.json")))
        if number in (warm, warm + jobs):
            gc.collect()
            seen.append((len(gc.get_objects()), process.num_fds()))
        return value

    run_task = app.task
    grid = [text for text in SWEEP if not text.startswith(("method=", "data.eta="))]
    with mock.patch.object(app, "task", look):
        grid += ["method=trivial", f"seed=range({warm + jobs})", f"output_dir={tmp_path}"]
        assert main(grid) == 0
    (objects, files), (objects_after, files_after) = seen
    assert objects_after - objects < 50 * jobs, "a config kept would be 1,500 objects per job"
    assert files_after < files + 5, "one per job would be 25"
