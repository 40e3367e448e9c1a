"""Same seed, same result: bitwise across runs and numbers of threads.

    python -m benchmarks.chaos threads                      every classical method and training
    python -m benchmarks.chaos threads --only gpm --threads 1 2

Every case runs in a process of its own for each number of threads, and twice with one thread. Its
digest covers all numbers of its result.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401 (its BLAS is limited too)
from threadpoolctl import threadpool_limits

from gnnsync import MeasurementGraph, Solution
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.methods import METHODS

# Nodes of the large graph: its products of matrices are divided among threads.
LARGE = 400
THREADS = (1, 1, 2, 4)
_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def network(n: int, k: int = 1, degree: float = 24.0) -> MeasurementGraph:
    """Noisy offsets, 30 % of them outliers."""
    rng = np.random.default_rng(n)
    pairs = erdos_renyi(n, degree / n, n)
    return observe(pairs, rng.uniform(0, 2 * np.pi, (n, k)), 0.3, rng=rng, inlier_noise=0.1)


def digest(*values: Any) -> str:
    """Of the bytes of arrays, and of everything else as text."""
    found = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        found.update(array.tobytes() if array.dtype.kind in "fiub" else repr(value).encode())
    return found.hexdigest()[:16]


def digest_of(solution: Solution) -> str:
    """Of the angles, confidences and figures of a solution."""
    return digest(
        solution.angles,
        solution.edge_confidence,
        solution.node_confidence,
        solution.node_deviation,
        solution.iterations,
        sorted(solution.diagnostics.items()),
    )


def _classical(name: str, n: int, k: int = 1) -> str:
    return digest_of(METHODS[name]()(network(n, k), k, seed=3))


def _inductive(n: int, threads: int) -> str:
    import torch

    from gnnsync.learn.inductive.method import GNNSyncInductive

    torch.set_num_threads(threads)
    return digest_of(GNNSyncInductive(finetune=True, finetune_steps=2)(network(n), seed=3))


def _inductive_training(threads: int) -> str:
    """Three steps of the real training with its stream and validation, and solutions."""
    # Lightning is not needed for classical methods.
    import torch
    from pytorch_lightning import Trainer

    from gnnsync.data.stream.datamodule import StreamDataModule
    from gnnsync.data.stream.draw import GraphLaw
    from gnnsync.data.stream.held_out import Cell
    from gnnsync.learn.inductive.network import UnrolledPropagation
    from gnnsync.learn.inductive.training.method import InductiveTraining
    from gnnsync.methods.base import RunContext

    torch.set_num_threads(threads)
    cell = Cell("er", "erdos_renyi", LARGE // 2, 24, 0.3, 0.1, networks=2)
    stream = StreamDataModule(
        GraphLaw(nodes=(100, LARGE), degree=(20.0, 30.0)),
        batch_size=2,
        batches_per_epoch=3,
        validation=[cell],
    )
    quiet = {"enable_model_summary": False, "accelerator": "cpu", "devices": 1}
    training = InductiveTraining(
        stream, partial(Trainer, max_steps=3, **quiet), partial(UnrolledPropagation, layers=3)
    )
    network = training.train(RunContext(threads=threads))
    figures = [sorted(row.items()) for row in training.evaluate(network).values()]
    return digest(*(value.detach().numpy() for value in network.parameters()), figures)


def _learned(name: str, n: int) -> Callable[[int], str]:
    def run(threads: int) -> str:
        # torch is not needed for classical methods.
        from gnnsync.methods.base import RunContext
        from gnnsync.solve import find_method

        method: Any = find_method(name)
        found = method.solve_many(
            [network(n), network(n, degree=20.0)],
            1,
            seeds=[1, 2, 3, 4],
            trials=2,
            context=RunContext(threads=threads),
        )
        history = [value for _, value in sorted(found.history.items())]
        return digest(*history, *(solution.angles for solution in found.solutions))

    return run


def cases() -> dict[str, Callable[[int], str]]:
    """Digests by name, each a function of the number of threads."""
    found: dict[str, Callable[[int], str]] = {}
    for name, method in METHODS.items():
        found[name] = lambda threads, name=name: _classical(name, LARGE)
        if method.any_k and name != "trivial":
            found[f"{name}, k = 2"] = lambda threads, name=name: _classical(name, LARGE // 2, 2)
    found["gnnsync"] = _learned("gnnsync", 120)
    found["gnnsync_inductive"] = lambda threads: _inductive(LARGE, threads)
    found["inductive training"] = _inductive_training
    found["gnnsync_plus"] = _learned("gnnsync_plus", 120)
    return found


def digests(names: Sequence[str], threads: int) -> dict[str, str]:
    """Digests of the cases, computed in a process with this number of threads."""
    environment = os.environ | dict.fromkeys(_VARIABLES, str(threads))
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
    command = [sys.executable, "-m", "benchmarks.chaos.threads", str(threads), *names]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = list(cases())
    parser.add_argument(
        "--only", nargs="+", choices=known, metavar="CASE", help="these only", default=known
    )
    parser.add_argument("--threads", nargs="+", type=int, default=THREADS)
    options = parser.parse_args(arguments)
    print("| case | " + " | ".join(f"{n} threads" for n in options.threads) + " | same |")
    print("|---" * (2 + len(options.threads)) + "|")
    wrong = 0
    for name in options.only:
        found = [digests([name], threads)[name] for threads in options.threads]
        same = len(set(found)) == 1
        wrong += not same
        print(f"| {name} | " + " | ".join(found) + f" | {same} |", flush=True)
    sys.exit(1 if wrong else 0)


def _child(threads: int, names: list[str]) -> None:
    warnings.simplefilter("ignore")
    known = cases()
    # From its environment BLAS takes no more threads than there are processors.
    with threadpool_limits(threads, user_api="blas"):
        print(json.dumps({name: known[name](threads) for name in names}))


if __name__ == "__main__":
    _child(int(sys.argv[1]), sys.argv[2:])
