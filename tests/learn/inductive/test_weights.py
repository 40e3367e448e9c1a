from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.weights import load_weights, read_metadata, save_weights
from gnnsync.learn.training import CheckpointError
from tests.learn.inductive.small_stream import NETWORK


@pytest.mark.parametrize("tied", [False, True])
def test_what_is_saved_comes_back(tied, tmp_path):
    torch.manual_seed(1)
    network = UnrolledPropagation(layers=4, bins=12, hidden=3, tied=tied)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter)
    save_weights(tmp_path / "w.safetensors", network, {"steps": 7})
    loaded = load_weights(tmp_path / "w.safetensors")
    assert (loaded.num_layers, loaded.circle.bins, loaded.tied) == (4, 12, tied)
    assert not loaded.training
    for name, value in network.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name
    assert read_metadata(tmp_path / "w.safetensors") == {"steps": 7}
    assert [p.name for p in tmp_path.iterdir()] == ["w.safetensors"]


def header(**changed):
    plain = {"format": "gnnsync inductive", "version": "1", "training": "{}"}
    return {**plain, "network": '{"layers": 3, "bins": 16, "hidden": 4}', **changed}


def nan_weights():
    tensors = NETWORK().state_dict()
    return {**tensors, "first": torch.full_like(tensors["first"], torch.nan)}


@pytest.mark.parametrize(
    ("tensors", "metadata", "message"),
    [
        (lambda: {"a": torch.zeros(2)}, header(), r"a has shape \(2,\) there and None"),
        (lambda: {"a": torch.zeros(2)}, {}, "not of the inductive network"),
        (lambda: {"a": torch.zeros(2)}, header(version="99"), "of version 99, and this is"),
        (lambda: {"a": torch.zeros(2)}, header(network='{"width": 3}'), "of another network"),
        (lambda: {"a": torch.zeros(2)}, header(network='{"layers": 0}'), "of another network"),
        (nan_weights, header(), "first is not finite"),
        (NETWORK().state_dict, header(network='{"layers": 1000000000000}'), "whole numbers up to"),
        (NETWORK().state_dict, header(network='{"bins": 1e3}'), "whole numbers up to"),
        (NETWORK().state_dict, header(network="[" * 100_000), "entry network is damaged"),
        (NETWORK().state_dict, header(network=""), "entry network is damaged"),
        (NETWORK().state_dict, header(network="3"), "entry network is damaged"),
        (NETWORK().state_dict, {"format": "gnnsync inductive", "version": "1"}, "is damaged"),
    ],
)
def test_other_content_is_refused_in_one_line(tensors, metadata, message, tmp_path):
    path = tmp_path / "w.safetensors"
    save_file(tensors(), path, metadata)
    with pytest.raises(CheckpointError, match=message) as error:
        load_weights(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.safetensors", None, "no such file"),
        ("w.safetensors", b"junk", "not a safetensors file"),
        ("w.ckpt", b"junk", "not a checkpoint of the inductive network"),
    ],
)
def test_other_files_are_refused_in_one_line(name, content, message, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=message) as error:
        load_weights(tmp_path / name)
    assert "\n" not in str(error.value)
