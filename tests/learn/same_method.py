"""A method made from a config against the same method made in Python."""

from __future__ import annotations

import torch

from gnnsync.experiments.config.building import build
from gnnsync.experiments.config.composing import compose_config, hydra_configs
from gnnsync.learn import GNNSync
from gnnsync.learn.callbacks import ReplicaStopping
from gnnsync.learn.training.trainer import as_list

VALUES = ("features", "spread", "correction", "separation", "inner_steps", "eval_every", "anchors")


def assert_same_method(overrides: list[str], coded: GNNSync) -> None:
    """The config makes the network, its training and its budget that the code does."""
    with hydra_configs():
        configured = build(compose_config(overrides))[2]
    for name in VALUES:
        assert getattr(configured, name) == getattr(coded, name), name
    one, other = (method.trainer.keywords for method in (configured, coded))
    assert one["max_steps"] == other["max_steps"]
    one, other = (_patience(method) for method in (configured, coded))
    assert one == other
    assert repr(configured.loss) == repr(coded.loss)
    assert _plain(configured.loss) == _plain(coded.loss)
    for part, sizes in (("encoder", (2, 1, 1)), ("steps", (2,))):
        one, other = (getattr(method, part)(*sizes) for method in (configured, coded))
        assert repr(one) == repr(other)
        assert _plain(one) == _plain(other)
        assert [p.shape for p in one.parameters()] == [p.shape for p in other.parameters()]
    parameter = [torch.nn.Parameter(torch.zeros(1))]
    one, other = (method.optimizer(parameter) for method in (configured, coded))
    assert type(one) is type(other)
    assert one.defaults == other.defaults


def _patience(method: GNNSync) -> list[int | None]:
    return [c.patience for c in as_list(method.callbacks) if isinstance(c, ReplicaStopping)]


def _plain(module: torch.nn.Module) -> list[dict[str, object]]:
    """Options of a module and its parts that are plain values."""
    plain = bool | int | float | str | None
    return [
        {k: v for k, v in vars(part).items() if isinstance(v, plain)} for part in module.modules()
    ]
