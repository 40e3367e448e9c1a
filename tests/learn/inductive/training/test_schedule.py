from __future__ import annotations

import pytest
import torch

from gnnsync.errors import ParameterError
from gnnsync.learn.inductive.training.schedule import WarmingAverage, WarmupCosine


def test_the_rate_grows_then_falls_to_its_end():
    factor = WarmupCosine(100, warmup=0.1, final=0.02)
    rates = [factor(step) for step in range(101)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[:10] == sorted(rates[:10])
    assert max(rates) > 0.95
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[100] == pytest.approx(0.02)
    assert factor(500) == pytest.approx(0.02)


def test_without_warmup_the_first_rate_is_the_highest():
    assert WarmupCosine(10, warmup=0.0)(0) == 1.0


def test_the_average_forgets_its_start_and_keeps_what_is_equal():
    rule, average = WarmingAverage(0.9), torch.zeros(3)
    for updates in range(200):
        average = rule(average, torch.ones(3), torch.tensor(updates))
    assert average == pytest.approx(torch.ones(3).numpy(), abs=1e-6)
    same = torch.rand(50)
    assert torch.equal(rule(same, same, 7), same)


@pytest.mark.parametrize("bad", [{"decay": 1.0}, {"decay": -0.1}, {"warmup": 0.0}])
def test_bad_values_are_refused(bad):
    with pytest.raises(ParameterError):
        WarmingAverage(**bad)
