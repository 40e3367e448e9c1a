"""Running a method on all replicas of a job, learned or classical alike."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from gnnsync.data.base import SyncDataModule
from gnnsync.errors import ConfigError
from gnnsync.experiments.config import Settings
from gnnsync.learn import GNNSync, Run
from gnnsync.learn.features import MethodFeatures
from gnnsync.results.outcome import Outcome, Replica
from gnnsync.solution import Solution


def replica_seed(seed: int, network_seed: int, trial: int) -> int:
    """The seed of one replica, from the job's, the network's and the trial's."""
    return int(np.random.SeedSequence([seed, network_seed, trial]).generate_state(1)[0])


def solve_replicas(
    method: Any,
    data: SyncDataModule,
    settings: Settings,
    directory: Path,
    callbacks: list[Any] | None = None,
) -> Outcome:
    """Solve every network `settings.trials` times."""
    start = time.perf_counter()
    data.setup()
    places = [(i, s, t) for i, s in enumerate(data.seeds) for t in range(settings.trials)]
    seeds = [replica_seed(settings.seed, network, trial) for _, network, trial in places]
    ready = time.perf_counter()
    if isinstance(method, GNNSync):
        outcome = _learn(method, data, settings, directory, places, seeds, callbacks or [])
    else:
        if settings.ckpt is not None:
            raise ConfigError(f"ckpt = {settings.ckpt}: only method=gnnsync has checkpoints")
        outcome = _solve(method, data, places, seeds)
    outcome.seconds_setup += ready - start
    return outcome


def _learn(
    method: GNNSync,
    data: SyncDataModule,
    settings: Settings,
    directory: Path,
    places: list[tuple[int, int, int]],
    seeds: list[int],
    callbacks: list[Any],
) -> Outcome:
    run = Run(
        directory=directory,
        checkpoint_every=settings.checkpoint_every,
        resume=settings.resume,
        callbacks=callbacks,
    )
    fitted = method.fit(
        data.graphs,
        data.k,
        seeds=seeds,
        trials=settings.trials,
        run=run,
        checkpoint=settings.ckpt,
    )
    angles = isinstance(method.features, MethodFeatures)
    replicas = [
        Replica(
            *place,
            solution=fitted.solutions[r],
            status=str(fitted.status[r]),
            features=fitted.features[r].double().numpy() if angles else None,
        )
        for r, place in enumerate(places)
    ]
    history = {name: losses.double().numpy() for name, losses in fitted.history.items()}
    return Outcome(replicas, fitted.seconds_setup, fitted.seconds_train, history)


def _solve(
    method: Any, data: SyncDataModule, places: list[tuple[int, int, int]], seeds: list[int]
) -> Outcome:
    replicas = []
    for place, seed in zip(places, seeds, strict=True):
        solution = method(data.graphs[place[0]], data.k, seed=seed)
        replicas.append(Replica(*place, solution=solution, status=_status(solution)))
    return Outcome(replicas, 0.0, sum(replica.solution.seconds for replica in replicas))


def _status(solution: Solution) -> str:
    return "finished" if solution.converged else "not converged"
