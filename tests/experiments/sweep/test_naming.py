from __future__ import annotations

from datetime import datetime

from gnnsync.experiments.config.composing import hydra_configs, parse_overrides
from gnnsync.experiments.sweep.command import Command
from gnnsync.experiments.sweep.naming import new_name

NOW = datetime(2026, 11, 18, 14, 2, 31)


def test_a_name_has_the_time_and_the_swept_keys(tmp_path):
    name = new_name(["method", "data.eta", "model/encoder", "+cell"], tmp_path, NOW)
    assert name == "2026-11-18_14-02-31_method-data.eta-model.encoder-cell"
    assert new_name([], tmp_path, NOW) == "2026-11-18_14-02-31"
    assert new_name(["method"], tmp_path, NOW, "debug") == "debug/2026-11-18_14-02-31_method"
    assert len(new_name([f"key{i}" for i in range(99)], tmp_path, NOW)) <= 80


def test_a_name_is_new(tmp_path):
    names = []
    for _ in range(3):
        names.append(new_name(["seed"], tmp_path, NOW))
        (tmp_path / names[-1]).mkdir()
    assert names[1:] == [f"{names[0]}-2", f"{names[0]}-3"]


def test_hydra_reads_a_name_as_it_is(tmp_path):
    name = new_name(["model/encoder", "data.eta"], tmp_path, NOW, "debug")
    with hydra_configs():
        (override,) = parse_overrides([f"sweep={name}"])
    assert override.value() == name


def test_only_sweeps_without_a_name_get_one(tmp_path):
    def name(*overrides: str) -> str | None:
        return Command.of([f"output_dir={tmp_path}", *overrides]).new_name

    with hydra_configs():
        assert name("sweep=mine", "data.eta=0.1,0.2") is None
        assert name("experiment=paper/main_k1") is None
        assert name("data.eta=0.1,0.2", "method=gpm").endswith("_data.eta")
        assert name("sweep=null", "seed=1,2").endswith("_seed")
        assert name("debug=fast", "seed=1,2").startswith("debug/")
        assert name("debug=fast", "seed=1,2", "sweep=mine") is None
