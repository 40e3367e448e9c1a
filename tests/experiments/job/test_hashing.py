from __future__ import annotations

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from gnnsync.experiments.job.hashing import (
    SCIENCE,
    WATCHING_CALLBACKS,
    job_folder,
    job_hash,
    job_name,
    resolved,
)
from gnnsync.experiments.paths import conf_dir
from gnnsync.results.files import reproducing


def config(*overrides: str):
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return compose("config", list(overrides))


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["data.p=0.15", "data.eta=0.8"], "gnnsync-ero-p0.15-eta0.8"),
        (["data=bao", "data.k=2", "loss=cycle"], "gnnsync-bao-p0.05-eta0.6-k2"),
        (["data=rggo", "method=spectral_rn"], "spectral_rn-rggo-p0.05-eta0.6"),
        (["data.inlier_noise=0.1", "method=cemp_gcw"], "cemp_gcw-ero-p0.05-eta0.6-sigma0.1"),
        (["data=us_cities", "method=auto"], "auto-us_cities-eta0.1"),
        (["data=pacm", "method=irls"], "irls-pacm-eta0.1"),
        (["data=file", "data.path=offsets.csv", "method=gpm"], "gpm-file"),
        (["method=gpm", "method._target_=my.Very/Odd Method"], "very_odd_method-ero-p0.05-eta0.6"),
    ],
    ids=str,
)
def test_the_folder_of_a_job_says_what_it_is(overrides, words):
    cfg = config(*overrides, "output_dir=out", "sweep=a/b")
    folder = job_folder(cfg)
    assert folder == Path("out/a/b") / f"{words}-{job_hash(cfg)[:8]}"
    assert folder.name == job_name(resolved(cfg))


def test_names_are_bounded_and_safe():
    cfg = config("method=gpm", f"method._target_='package.{'Long' * 50}Méthod'")
    name = job_name(resolved(cfg, SCIENCE))
    assert len(name) <= 90
    assert name.isascii()


def test_where_a_job_writes_and_how_it_is_watched_is_no_part_of_its_hash():
    aside = ["output_dir=out", "sweep=x", "print_config=true", "threads=2", "logger=none"]
    aside += ["hydra/launcher=joblib", "resume=true", "checkpoint_every=7", "figures=false"]
    assert job_hash(config(*aside)) == job_hash(config())
    for computed in ("data.n=30", "data.seeds=[1]", "seed=1", "trials=1", "method=gpm"):
        assert job_hash(config(computed)) != job_hash(config())


@pytest.mark.parametrize(
    ("group", "option", "value"),
    [
        ("method", "correction", 1.0),
        ("method", "separation", 300),
        ("model.steps", "competition", 4.0),
    ],
)
def test_an_option_that_was_gained_counts_only_when_it_is_set(group, option, value):
    others = ["protocol=paper", "model/steps=reweighted"]
    before, present = config(*others), job_hash(config(*others))
    OmegaConf.set_struct(before, False)
    del OmegaConf.select(before, group)[option]
    assert job_hash(before) == present
    assert job_hash(config(*others, f"{group}.{option}={value}")) != present


CALLBACKS = sorted(
    {
        (str(name), str(callback["_target_"]))
        for path in (Path(conf_dir()) / "callbacks").glob("*.yaml")
        for name, callback in OmegaConf.load(path).items()
        if OmegaConf.is_dict(callback) and "_target_" in callback
    }
)


@pytest.mark.parametrize(("name", "target"), CALLBACKS)
def test_callbacks_count_in_the_hash_and_in_the_overrides_alike(name, target):
    """The hash tells those that only watch by their class, `reproducing` by their name."""
    shown = reproducing([f"callbacks.{name}.every=1"]) != []
    assert shown == (target not in WATCHING_CALLBACKS)
