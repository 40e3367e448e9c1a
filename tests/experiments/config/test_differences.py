from gnnsync.experiments.config.composing import compose_config, hydra_configs
from gnnsync.experiments.config.differences import differences
from gnnsync.experiments.job.hashing import resolved


def config(*overrides: str) -> dict:
    with hydra_configs():
        found = resolved(compose_config(list(overrides)))
    del found["logger"]
    return found


def test_the_default_config_differs_in_nothing():
    assert differences(config()) == {}


def test_a_part_differs_where_it_is_set():
    found = differences(config("model/encoder=magnet", "data.eta=0.2", "loss=cycle"))
    assert found["data.eta"] == (0.2, 0.6)
    assert found["model.encoder._target_"][0].endswith("MagNet")
    assert not [key for key in found if key.startswith(("method.", "data.angles"))]


def test_a_value_that_the_default_refers_to_differs_if_it_is_set():
    assert differences(config("data.orientation=upper")) == {
        "data.orientation": ("upper", "random")
    }
    found = differences(config("protocol=paper"))
    assert found["protocol.orientation"] == ("upper", "random")
    assert "data.orientation" not in found
