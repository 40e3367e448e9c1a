"""Running a method on all replicas of a job, trained or classical alike."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gnnsync.data.base import Networks
from gnnsync.errors import ConfigError
from gnnsync.experiments.config.building import Settings
from gnnsync.methods.base import Method, ReplicaMethod, RunContext
from gnnsync.results.outcome import Outcome, Replica
from gnnsync.solution import Solution


def replica_seed(seed: int, network_seed: int, trial: int) -> int:
    """The seed of one replica, from the job's, the network's and the trial's."""
    return int(np.random.SeedSequence([seed, network_seed, trial]).generate_state(1)[0])


def solve_replicas(
    method: Method,
    data: Networks,
    settings: Settings,
    directory: Path,
    loggers: Sequence[Any] = (),
) -> Outcome:
    """Solve every network `settings.trials` times."""
    start = time.perf_counter()
    data.setup()
    places = [(i, s, t) for i, s in enumerate(data.seeds) for t in range(settings.trials)]
    seeds = [replica_seed(settings.seed, network, trial) for _, network, trial in places]
    ready = time.perf_counter()
    if isinstance(method, ReplicaMethod):
        context = RunContext(directory, loggers, settings.resume, settings.ckpt, settings.threads)
        outcome = _solve_together(method, data, settings.trials, places, seeds, context)
    else:
        if settings.ckpt is not None:
            raise ConfigError(f"ckpt = {settings.ckpt}: only method=gnnsync has checkpoints")
        outcome = _solve_one_by_one(method, data, places, seeds)
    outcome.seconds_setup += ready - start
    return outcome


def _solve_together(
    method: ReplicaMethod,
    data: Networks,
    trials: int,
    places: list[tuple[int, int, int]],
    seeds: list[int],
    context: RunContext,
) -> Outcome:
    found = method.solve_many(data.graphs, data.k, seeds=seeds, trials=trials, context=context)
    replicas = [
        Replica(
            *place,
            solution=found.solutions[r],
            status=found.status[r],
            features=None if found.features is None else found.features[r],
            untrained=None if found.untrained is None else found.untrained[r],
        )
        for r, place in enumerate(places)
    ]
    return Outcome(replicas, found.seconds_setup, found.seconds_train, found.history)


def _solve_one_by_one(
    method: Method, data: Networks, places: list[tuple[int, int, int]], seeds: list[int]
) -> Outcome:
    replicas = []
    for place, seed in zip(places, seeds, strict=True):
        solution = method(data.graphs[place[0]], data.k, seed=seed)
        replicas.append(Replica(*place, solution=solution, status=_status(solution)))
    return Outcome(replicas, 0.0, sum(replica.solution.seconds for replica in replicas))


def _status(solution: Solution) -> str:
    return "finished" if solution.converged else "not converged"
