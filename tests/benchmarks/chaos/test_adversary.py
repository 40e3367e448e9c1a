"""`auto` against outliers that an adversary has chosen."""

import pytest

from benchmarks.chaos.adversary import ATTACKS, BUDGET, attacked, outcome, without_majority
from gnnsync.methods import METHODS


@pytest.mark.parametrize("attack", list(ATTACKS))
def test_only_nodes_without_a_majority_are_lost(attack):
    for seed in (1001, 1002):
        assert outcome(attacked(attack, seed), METHODS["auto"]()).lost_with_majority == 0


@pytest.mark.parametrize("attack", list(ATTACKS))
def test_an_attack_keeps_its_budget_and_does_harm(attack):
    graph = attacked(attack, 5)
    assert 0.15 < (graph.group < 0).mean() <= BUDGET
    assert without_majority(graph).any()
    assert outcome(graph, METHODS["spectral"]()).lost > 0
