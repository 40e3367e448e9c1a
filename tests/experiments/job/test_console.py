from __future__ import annotations

from pathlib import Path

import pytest

from gnnsync.experiments.job.console import print_results, print_start

CONFIG = {
    "data": {"p": 0.1, "seeds": [1, 2]},
    "method": {"_target_": "gnnsync.methods.GPM"},
    **dict.fromkeys(
        ("trials", "seed", "fit", "ckpt", "resume", "output_dir", "sweep", "threads"), 1
    ),
}
ABOUT = {"graph": "erdos_renyi", "p": 0.1, "eta": 0.2, "k": 1, "n": 30}


def test_a_job_starts_with_method_data_and_folder(capsys):
    print_start(CONFIG, "gpm refine=5", ABOUT, Path("out/x"))
    assert capsys.readouterr().out.splitlines() == [
        "method: GPM refine=5",
        "data:   2 networks ERO: n = 30, p = 0.1, k = 1, outlier fraction η = 0.2",
        "folder: out/x",
    ]


def test_eta_is_an_outlier_fraction_on_random_graphs_only(capsys):
    print_start({"data": {}}, "gpm", {"graph": "us_cities", "eta": 0.2}, Path("out/x"))
    assert "data:   us_cities: noise level η = 0.2\n" in capsys.readouterr().out


def test_the_config_is_printed_if_asked_for(capsys):
    print_start({**CONFIG, "print_config": True}, "gpm", {}, Path("out/x"))
    told = capsys.readouterr().out
    assert "seeds: [1, 2]" in told
    assert "threads: 1" in told, "every key is printed"
    assert told.endswith("method: GPM\ndata:   2 networks data\nfolder: out/x\n")


def row(**values):
    return {"method": "gpm", "network_seed": 10, "trial": 0, "status": "finished", **values}


def test_results_are_means_over_runs(capsys):
    rows = [row(mse=0.1, mse_trivial=2.0, status=s) for s in ("finished", "not converged")]
    print_results(rows, Path("out/x"), [Path("out/x/angles.png"), Path("out/x/loss.png")])
    told = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert told == [
        "",
        "mean ± standard deviation over 1 network",
        "MSE",
        "all angles equal 2 ± 0",
        "GPM 0.1 ± 0",
        "",
        "1 of 2 runs finished; 1 of 2 runs did not converge",
        "pictures: out/x/angles.png, loss.png",
        "page of all runs in this folder: gnnsync report out",
    ]


def test_a_training_is_shown_from_its_input_to_the_limit(capsys):
    own = {"method": "gnnsync", "model.features": "spectral_rn", "status": "stopped", "steps": 370}
    rows = [
        row(**own, mse=0.1, mse_features=0.3, mse_untrained=0.2, limit_oracle=0.0, upset=0.5)
        | {"trial": trial, "steps": 370 + 10 * trial}
        for trial in (0, 1)
    ]
    print_results(rows, Path("out/x"))
    told = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert told[1:-1] == [
        "mean ± standard deviation over 1 network × 2 trials",
        "MSE upset",
        "input of the network: Spectral_RN 0.3 ± 0",
        "network before training 0.2 ± 0",
        "GNNSync, trained 0.1 ± 0 0.5",
        "limit: oracle, which knows the inliers 0 ± 0",
        "",
        "2 of 2 runs stopped early after 370 to 380 steps",
    ]


def test_located_points_are_shown_beside_their_limits_and_peers(capsys):
    errors = {"rmse": 0.9, "rmse_localizable": 0.5, "rmse_limit": 0.4, "rmse_smacof": 0.7}
    print_results([row(mse=0.1, ane=0.2, upset=0.3, **errors)], Path("out/x"))
    told = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert told[2:6] == [
        "MSE ANE RMSE",
        "GPM 0.1 ± 0 0.2 ± 0 0.5 ± 0",
        "limit: Cramér-Rao bound of the points 0.4 ± 0",
        "smacof 0.7 ± 0",
    ]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("finished", "the run trained for all 20 steps; 1.5 s each"),
        ("diverged", "the run diverged after 20 steps and kept the best state before; 1.5 s each"),
    ],
)
def test_the_end_of_a_training_is_told_in_words(capsys, status, words):
    print_results(
        [row(mse=1.0, mse_untrained=1.0, status=status, steps=20, seconds_train=1.5)], Path("x/y")
    )
    assert words in capsys.readouterr().out


def test_steps_and_seconds_are_whole_numbers(capsys):
    own = {"mse": 0.1, "mse_untrained": 1.0, "steps": 2950, "seconds_train": 1234.5}
    print_results([row(**own)], Path("out/x"))
    assert "the run trained for all 2,950 steps; 1,234 s each" in capsys.readouterr().out


def test_collapsed_sets_are_reported(capsys):
    apart = row(mse=0.1, set_agreement=0.35, set_agreement_true=0.2)
    print_results([apart, apart], Path("out/x"))
    told = capsys.readouterr().out
    assert "largest agreement of two sets of angles: 0.35; of the true sets: 0.20\n" in told
    assert "warning" not in told
    print_results([apart, row(mse=0.1, set_agreement=0.9, set_agreement_true=0.2)], Path("out/x"))
    assert "warning: sets of angles have collapsed in 1 of 2 runs:" in capsys.readouterr().out
    print_results([row(set_agreement=0.59)], Path("out/x"))
    assert "warning" not in capsys.readouterr().out
    print_results([row(set_agreement=0.61)], Path("out/x"))
    assert "warning: sets of angles have collapsed in the run:" in capsys.readouterr().out
