"""Result rows: one per replica, flat and plain."""

from __future__ import annotations

import importlib.metadata
import math
import platform
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gnnsync.data import Networks, Reconstruction
from gnnsync.graph import MeasurementGraph
from gnnsync.limits import instance_limit, least_squares_oracle
from gnnsync.methods import Trivial
from gnnsync.metrics import (
    angular_mse,
    cycle_inconsistency,
    geodesic_mse,
    set_agreement,
    upset,
)
from gnnsync.results.outcome import Label, Outcome, Replica
from gnnsync.results.schema import METRICS
from gnnsync.typing import FloatArray

_PACKAGES = ("gnnsync", "torch", "pytorch_lightning", "numpy", "scipy", "torch_geometric")


def result_rows(
    outcome: Outcome,
    data: Networks,
    found: Sequence[Reconstruction | None],
    *,
    job_hash: str,
    sweep: str,
    label: Label,
    either_sign: bool = False,
) -> list[dict[str, Any]]:
    """Metrics of every replica beside what identifies it: method, variant, data and seeds.

    Args:
        outcome: the replicas.
        data: what they solved.
        found: what the data make of the solution of each replica.
        job_hash: of the config.
        sweep: name of the sweep.
        label: what distinguishes the method.
        either_sign: score the angles or their negatives, see `angular_mse`.
    """
    described = {f"data.{name}": value for name, value in data.describe().items()}
    count = len(outcome.replicas)
    limits = [_limits(graph) for graph in data.graphs]
    rows = []
    for replica, made in zip(outcome.replicas, found, strict=True):
        graph, solution = data.graphs[replica.network], replica.solution
        group = solution.edge_group if data.k > 1 else None
        row: dict[str, Any] = {
            "job_hash": job_hash,
            "sweep": sweep,
            "method": label.method,
            "variant": label.variant,
            **label.columns,
            **described,
            "network_seed": replica.network_seed,
            "trial": replica.trial,
            "upset": upset(graph, solution.angles),
            "cycle_inconsistency": cycle_inconsistency(graph, group),
            "steps": solution.iterations,
            "seconds_setup": outcome.seconds_setup / count,
            "seconds_train": outcome.seconds_train / count,
            "status": replica.status,
            **(made.columns() if made is not None else {}),
            **limits[replica.network],
        }
        if data.k > 1:
            row["set_agreement"] = set_agreement(solution.angles)
            if graph.angles is not None:
                row["set_agreement_true"] = set_agreement(graph.angles)
        if graph.angles is not None:
            row |= _errors(
                replica, graph, graph.angles, partial(angular_mse, either_sign=either_sign)
            )
        rows.append({name: _plain(value) for name, value in row.items()})
    return rows


def _errors(
    replica: Replica,
    graph: MeasurementGraph,
    truth: FloatArray,
    mse: Callable[[FloatArray, FloatArray], float],
) -> dict[str, float]:
    """Errors of the angles against the truth, and of those that the method began with."""
    angles = replica.solution.angles
    errors = {
        "mse": mse(angles, truth),
        "geodesic_mse": geodesic_mse(angles, truth),
        "mse_trivial": mse(Trivial()(graph, truth.shape[1]).angles, truth),
    }
    starts = {"mse_features": replica.features, "mse_untrained": replica.untrained}
    for name, start in starts.items():
        if start is not None and np.isfinite(start).all():
            errors[name] = mse(start, truth)
    return errors


def _limits(graph: MeasurementGraph) -> dict[str, float]:
    """What the best possible method can reach on this very graph, where the truth is known.

    `limit_oracle` knows which measurements are inliers and solves their least squares;
    `limit_certifiable` counts only nodes that closed cycles of exact inliers prove.
    """
    if graph.angles is None or graph.group is None:
        return {}
    return {
        "limit_oracle": least_squares_oracle(graph),
        "limit_certifiable": instance_limit(graph).certifiable,
    }


def summary(rows: list[dict[str, Any]], name: str) -> tuple[float, float] | None:
    """Mean and standard deviation of a column over the rows that have it; None if none has."""
    values = [row[name] for row in rows if row.get(name) is not None]
    return (float(np.mean(values)), float(np.std(values))) if values else None


def final_metrics(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Means over the replicas of a job of each metric, and the deviation of mse and ane."""
    found = {name: summary(rows, name) for name in METRICS}
    means = {name: value[0] for name, value in found.items() if value is not None}
    deviations = {f"{name}_std": value[1] for name, value in found.items() if value is not None}
    return means | {name: v for name, v in deviations.items() if name in ("mse_std", "ane_std")}


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _plain(value: Any) -> Any:
    """JSON has no NaN or infinity: a figure that does not exist is null."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
