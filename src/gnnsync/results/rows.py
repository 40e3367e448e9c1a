"""Result rows: one per replica, flat and plain."""

from __future__ import annotations

import importlib.metadata
import math
import platform
from functools import partial
from typing import Any

import numpy as np

from gnnsync.data import Map, Networks
from gnnsync.graph import MeasurementGraph
from gnnsync.limits import instance_limit, least_squares_oracle
from gnnsync.methods import Trivial
from gnnsync.metrics import (
    angular_mse,
    average_normalized_error,
    cycle_inconsistency,
    geodesic_mse,
    set_agreement,
    upset,
)
from gnnsync.results.outcome import Label, Outcome
from gnnsync.results.schema import METRICS

_PACKAGES = ("gnnsync", "torch", "pytorch_lightning", "numpy", "scipy", "torch_geometric")


def result_rows(
    outcome: Outcome,
    data: Networks,
    *,
    job_hash: str,
    sweep: str,
    label: Label,
    either_sign: bool = False,
) -> list[dict[str, Any]]:
    """Metrics of every replica beside what identifies it: method, variant, data and seeds.

    `either_sign` scores angles or their negatives, see `angular_mse`.
    """
    mse = partial(angular_mse, either_sign=either_sign)
    described = {f"data.{name}": value for name, value in data.describe().items()}
    count = len(outcome.replicas)
    limits = [_limits(graph) for graph in data.graphs]
    rows = []
    for replica in outcome.replicas:
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
            **map_errors(data.reconstruct(replica.network, solution)),
            **limits[replica.network],
        }
        if data.k > 1:
            row["set_agreement"] = set_agreement(solution.angles)
            if graph.angles is not None:
                row["set_agreement_true"] = set_agreement(graph.angles)
        if graph.angles is not None:
            trivial = Trivial()(graph, data.k).angles
            row["mse"] = mse(solution.angles, graph.angles)
            row["geodesic_mse"] = geodesic_mse(solution.angles, graph.angles)
            row["mse_trivial"] = mse(trivial, graph.angles)
            starts = {"mse_features": replica.features, "mse_untrained": replica.untrained}
            for name, angles in starts.items():
                if angles is not None and np.isfinite(angles).all():
                    row[name] = mse(angles, graph.angles)
        rows.append({name: _plain(value) for name, value in row.items()})
    return rows


def map_errors(found: Map | None) -> dict[str, float]:
    """Average normalized error of a map: `ane`, and `ane_paper` with the paper's alignment."""
    if found is None:
        return {}
    return {
        "ane": average_normalized_error(found.recovered, found.points),
        "ane_paper": average_normalized_error(found.recovered_paper, found.points),
    }


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
