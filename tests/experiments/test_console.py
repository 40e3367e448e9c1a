from __future__ import annotations

from pathlib import Path

from gnnsync.experiments.console import print_results, print_start

CONFIG = {
    "data": {"p": 0.1, "seeds": [1, 2]},
    "method": {"_target_": "gnnsync.methods.GPM"},
    **dict.fromkeys(
        ("trials", "seed", "fit", "ckpt", "resume", "output_dir", "sweep", "threads"), 1
    ),
}
ABOUT = {"graph": "erdos_renyi", "p": 0.1, "eta": 0.2, "k": 1, "n": 30}


def test_a_job_starts_with_one_line(capsys):
    print_start(CONFIG, "gpm refine=5", ABOUT, Path("out/x"))
    expected = "gpm refine=5 on erdos_renyi p=0.1 eta=0.2 k=1; results go to out/x\n"
    assert capsys.readouterr().out == expected


def test_the_config_is_printed_if_asked_for(capsys):
    print_start({**CONFIG, "print_config": True}, "gpm", {}, Path("out/x"))
    told = capsys.readouterr().out
    assert "seeds: [1, 2]" in told
    assert "threads: 1" in told, "every key is printed"
    assert told.endswith("gpm on data; results go to out/x\n")


def test_results_are_means_over_replicas(capsys):
    rows = [{"mse": 0.1, "mse_trivial": 2.0, "status": s} for s in ("finished", "diverged")]
    print_results(rows, "gpm", Path("out/x"))
    told = capsys.readouterr().out
    assert "0.1 ± 0" in told
    assert "trivial" in told
    assert "1 diverged, 1 finished; written to out/x" in told


def test_steps_are_whole_numbers(capsys):
    rows = [{"mse": 0.1, "steps": 2950, "seconds_train": 12.345, "status": "finished"}]
    print_results(rows, "gnnsync", Path("out/x"))
    told = capsys.readouterr().out
    assert "2,950" in told
    assert "12.3" in told
    assert "e+" not in told
