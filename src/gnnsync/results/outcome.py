"""What a job has computed, before it becomes rows: one replica per network and trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gnnsync.solution import Solution
from gnnsync.typing import FloatArray


@dataclass
class Replica:
    """One network and trial: its answer and how it was reached.

    A learned method also has the angles (n, k) of its features, and of its network before training.
    """

    network: int
    network_seed: int
    trial: int
    solution: Solution
    status: str
    features: FloatArray | None = None
    untrained: FloatArray | None = None


@dataclass
class Outcome:
    """All replicas of a job."""

    replicas: list[Replica]
    seconds_setup: float
    seconds_train: float
    history: dict[str, FloatArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Label:
    """What distinguishes one job's method from another's.

    Args:
        method: chosen name, such as `gnnsync` or `gpm`.
        variant: the method and what differs from its default config, in short, such as
            `gnnsync loss=linear tau=0.3`; data and seeds are no part of it.
        columns: for result rows: the chosen name of every part of the method (`loss`,
            `model.encoder`, ...), the parameters of the loss and the steps, and every other
            parameter that is not the default.
        overrides: what `gnnsync run` needs to run the job again; None if it was not started so.
    """

    method: str
    variant: str
    columns: dict[str, Any] = field(default_factory=dict)
    overrides: list[str] | None = None
