import pytest
import torch
from torch import nn

from gnnsync.errors import ParameterError
from gnnsync.learn.replicas import (
    ReplicaDropout,
    ReplicaLinear,
    copy_replicas,
    prepare_replicas,
    replica_generators,
    xavier,
)


@pytest.mark.parametrize("bias", [False, True])
def test_linear_is_a_linear_map_per_replica_and_channel(bias):
    layer = ReplicaLinear(3, 2, 4, 5, bias=bias)
    layer.reset_parameters(replica_generators([1, 2, 3]))
    if bias:
        with torch.no_grad():
            layer.bias.normal_()
    x = torch.randn(3, 2, 7, 4)
    y = layer(x)
    for r in range(3):
        for c in range(2):
            expected = x[r, c] @ layer.weight[r, c]
            expected = expected + layer.bias[r, c] if bias else expected
            torch.testing.assert_close(y[r, c], expected)


def test_xavier_fills_the_interval_from_each_generator():
    weight = torch.empty(2, 3, 200, 100)
    xavier(weight, replica_generators([4, 5]), gain=1.414)
    bound = 1.414 * (6 / 300) ** 0.5
    assert weight.abs().max() <= bound
    assert weight.abs().max() > 0.999 * bound
    assert weight.var().item() == pytest.approx(bound**2 / 3, rel=0.02)
    alone = torch.empty(1, 3, 200, 100)
    xavier(alone, replica_generators([5]), gain=1.414)
    assert torch.equal(weight[1], alone[0])


def test_a_broken_replica_leaves_the_gradients_of_the_others_untouched():
    def gradients(break_it: bool):
        layer = ReplicaLinear(3, 1, 4, 5)
        layer.reset_parameters(replica_generators([1, 2, 3]))
        if break_it:
            with torch.no_grad():
                layer.weight[1] = torch.nan
        x = torch.ones(3, 1, 7, 4)
        torch.tanh(layer(x)).sum().backward()
        return layer.weight.grad

    whole, broken = gradients(False), gradients(True)
    assert torch.equal(whole[[0, 2]], broken[[0, 2]])
    assert torch.isnan(broken[1]).all()


def dropout(seeds, *, layer=0, p=0.5):
    made = ReplicaDropout(p, layer)
    made.seeds = list(seeds)
    return made


def mask(made: ReplicaDropout, step: int, shape) -> torch.Tensor:
    made.step = step
    return made(torch.ones(len(made.seeds), *shape))


def test_the_mask_depends_on_seed_layer_and_step_alone():
    shape = (2, 30, 4)
    reference = dropout([7])
    for step in (0, 1, 63, 64, 200):
        wanted = mask(reference, step, shape)[0]
        # Whatever the other replicas, the order of the steps, or the object.
        assert torch.equal(mask(dropout([3, 7, 9]), step, shape)[1], wanted)
        assert not torch.equal(mask(dropout([8]), step, shape)[0], wanted)
        assert not torch.equal(mask(dropout([7], layer=1), step, shape)[0], wanted)
        assert not torch.equal(mask(dropout([7]), step + 1, shape)[0], wanted)
    assert torch.equal(mask(reference, 1, shape), mask(dropout([7]), 1, shape))


def test_dropout_keeps_the_mean():
    made = dropout([1], p=0.3)
    values = torch.stack([mask(made, step, (500,)) for step in range(40)])
    assert values.mean().item() == pytest.approx(1.0, abs=0.02)
    assert values.unique().tolist() == pytest.approx([0.0, 1 / 0.7])


def test_dropout_does_nothing_in_evaluation_or_at_zero():
    x = torch.randn(1, 5)
    assert dropout([1]).eval()(x) is x
    assert dropout([1], p=0.0)(x) is x


@pytest.mark.parametrize("p", [-0.1, 1.0, "half"])
def test_bad_dropout_is_named(p):
    with pytest.raises(ParameterError, match="dropout"):
        ReplicaDropout(p)


def test_prepare_draws_parameters_and_hands_out_seeds():
    class Pair(nn.Module):
        def __init__(self, replicas: int):
            super().__init__()
            self.linear, self.drop = ReplicaLinear(replicas, 1, 3, 3), ReplicaDropout(0.5)

        def reset_parameters(self, generators):
            self.linear.reset_parameters(generators)

    both, alone = nn.ModuleList([Pair(2), Pair(2)]), nn.ModuleList([Pair(1), Pair(1)])
    prepare_replicas(both, [3, 4])
    prepare_replicas(alone, [4])
    for i in range(2):
        assert both[i].drop.seeds == [3, 4]
        assert torch.equal(both[i].linear.weight[1], alone[i].linear.weight[0])
    assert not torch.equal(both[0].linear.weight, both[1].linear.weight)


def test_copy_touches_the_named_replicas_only():
    source = {
        "a": torch.arange(6.0).view(3, 2),
        "encoder.replica_modules.0.weight": torch.ones(4),
        "encoder.replica_modules.2.weight": torch.full((4,), 2.0),
    }
    source["a"][1] = torch.nan
    target = {name: torch.zeros_like(value) for name, value in source.items()}
    copy_replicas(source, target, [0])
    assert target["a"].tolist() == [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert target["encoder.replica_modules.0.weight"].tolist() == [1.0] * 4
    assert not target["encoder.replica_modules.2.weight"].any()


def test_repr():
    assert repr(ReplicaLinear(1, 2, 3, 4)) == (
        "ReplicaLinear(replicas=1, channels=2, in=3, out=4, bias=False)"
    )
    assert repr(ReplicaDropout(0.5)) == "ReplicaDropout(p=0.5)"
