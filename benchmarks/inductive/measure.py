"""Errors and times of the compared methods on the same networks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from rich.progress import track
from torch import nn

from benchmarks.inductive.cases import Case
from gnnsync.graph import MeasurementGraph
from gnnsync.learn import GNNSync, Training, gnnsync_paper
from gnnsync.learn.encoders import DIMPA
from gnnsync.learn.features import MethodFeatures
from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.method import GNNSyncInductive, stored_network
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.reference import told_propagation
from gnnsync.learn.losses import CycleLoss, UpsetLoss
from gnnsync.methods import METHODS, SpectralRN
from gnnsync.methods.auto import PARTS, Auto
from gnnsync.methods.robust.unrolled.start import prepare
from gnnsync.metrics import angular_mse

Angles = NDArray[np.float64]
Solve = Callable[[MeasurementGraph, Case], Angles]

NETWORK, POLISHED = "network", "polished"
TOLD, UNTRAINED = "told", "untrained"
AUTO = "auto"
UPSET, CYCLE = "gnnsync", "gnnsync, cycle loss"


@dataclass(frozen=True)
class Compared:
    """The methods by name.

    Args:
        weights: of the inductive network; None for those of the package.
    """

    weights: str | None = None

    def solver(self, name: str) -> Solve:
        """The angles (n, k) that a method finds.

        `network` and `polished` are the inductive network without and with its polish. `told` is
        belief propagation from the same start with the true η and σ; `untrained` the same
        propagation with an annealed σ and η and σ estimated by EM, which knows no truth either.
        `auto` is that without the network among its parts.
        """
        if name in (NETWORK, POLISHED):
            method = GNNSyncInductive(weights=self.weights, polish=name == POLISHED)
        elif name in (UPSET, CYCLE):
            method = _published(CycleLoss() if name == CYCLE else UpsetLoss())
        elif name in (TOLD, UNTRAINED):
            return self._told if name == TOLD else _untrained
        elif name == AUTO:
            method = Auto(without="network" if "network" in PARTS else "")
        else:
            method = METHODS[name]()
        return lambda graph, case: method(graph, case.k).angles

    def _told(self, graph: MeasurementGraph, case: Case) -> Angles:
        network = stored_network(self.weights)
        batch = collate([prepare(graph, case.k, rng=np.random.default_rng(0))])
        with torch.inference_mode():
            state = told_propagation(
                network, batch, torch.tensor([case.eta]), torch.tensor([case.sigma])
            )
            beliefs = torch.softmax(state.log_belief, dim=-1)
            turn = network.circle.mean_direction(beliefs).angle()
        return (batch.start + turn).numpy()


def _published(loss: nn.Module) -> GNNSync:
    """The paper's network with scaled initial scores, with which more replicas learn."""
    return gnnsync_paper(
        loss=loss,
        encoder=DIMPA,
        features=MethodFeatures(SpectralRN()),
        spread=0.25,
        training=Training(max_steps=1000, patience=200),
    )


def _untrained(graph: MeasurementGraph, case: Case) -> Angles:
    network = UnrolledPropagation()
    batch = collate([prepare(graph, case.k, rng=np.random.default_rng(0))])
    with torch.inference_mode():
        turn = network.mean_directions(network.final(batch)).angle()
    return (batch.start + turn).numpy()


def measure(
    cases: Sequence[Case],
    seeds: Sequence[int],
    methods: Iterable[str],
    compared: Compared,
    title: str,
) -> pd.DataFrame:
    """One row per case, network and method: `mse`, processor `seconds`, mean `degree`.

    The methods take turns on every network, so that a busy machine slows all alike.
    """
    solvers = {name: compared.solver(name) for name in methods}
    warm = Case("ero", 60, 0.3, 0.2)
    for solve in solvers.values():
        solve(*warm.draw([0]), warm)
    rows = []
    for case in track(cases, description=title):
        for seed, graph in zip(seeds, case.draw(seeds), strict=True):
            about = {"case": case, "seed": seed, "degree": 2 * graph.num_edges / graph.num_nodes}
            for name, solve in solvers.items():
                if case.k > 1 and name in METHODS and not METHODS[name].any_k:
                    continue
                fresh = graph.replace(angles=None, group=None)
                start = time.process_time()
                angles = solve(fresh, case)
                seconds = time.process_time() - start
                error = angular_mse(angles, graph.angles)
                rows.append(
                    {**about, "method": name, "mse": error, "seconds": seconds, "angles": angles}
                )
    return pd.DataFrame(rows)


def by_case(rows: pd.DataFrame, value: str = "mse") -> pd.DataFrame:
    """Means over the networks of a case: one row per case, one column per method."""
    return rows.pivot_table(index="case", columns="method", values=value, sort=False)
