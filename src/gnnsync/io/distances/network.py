"""Distance networks from columns of names and numbers; repeated distances are merged."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError, printable
from gnnsync.io.tables.arrays import name_column, number_names, real_column
from gnnsync.typing import FloatArray, IntArray

log = logging.getLogger(__name__)

# Repeated distances that differ by more than this part of their mean contradict each other.
_CONTRADICTION = 0.5


def network_from_columns(name: str, columns: Mapping[str, Any]) -> DistanceNetwork:
    """A network from columns i, j, distance and, if there is one, sigma.

    Names are numbered as in a file: whole numbers are sorted, others go by first appearance.

    Args:
        name: where the columns come from, for warnings.
        columns: (m,) each.
    """
    distance = real_column(columns, "distance")
    if distance is None or not len(distance):
        raise GraphError("holds no distances: give rows i, j, distance")
    names, pairs, n = number_names(name_column(columns, "i"), name_column(columns, "j"))
    return merged_network(name, pairs, distance, real_column(columns, "sigma"), names, n)


def merged_network(
    source: str,
    pairs: IntArray,
    distance: FloatArray,
    sigma: FloatArray | None,
    names: tuple[Hashable, ...] | None,
    n: int,
) -> DistanceNetwork:
    """The network of measurements (m,) of which several may be of the same two points.

    Those are replaced by their mean with weights 1/σ², whose deviation is (Σ 1/σ²)^(-1/2). A
    warning names the two points whose measurements differ most, if they contradict each other.

    Args:
        source: where the measurements come from, for the warning.
        pairs: (2, m).
        distance: (m,).
        sigma: (m,) standard deviations; None if unknown.
        names: of the points.
        n: number of points.
    """
    ends = np.sort(pairs, axis=0)
    key = ends[0] * n + ends[1]
    distinct, first, pair = np.unique(key, return_index=True, return_inverse=True)
    if len(distinct) == len(key) or (pairs[0] == pairs[1]).any() or not _positive(distance, sigma):
        # What is wrong, if anything, is named by the network itself.
        return DistanceNetwork(pairs, distance, n, deviation=sigma, names=names)
    weight: FloatArray = np.ones(len(distance)) if sigma is None else np.square(1.0 / sigma)
    total = np.bincount(pair, weight)
    mean = np.bincount(pair, weight * distance) / total
    rank = np.argsort(first)
    deviation: FloatArray = 1.0 / np.sqrt(total[rank])
    network = DistanceNetwork(
        ends[:, first[rank]],
        mean[rank],
        n,
        deviation=None if sigma is None else deviation,
        names=names,
    )
    _warn(source, network, distance, pair, mean, ends[:, first])
    return network


def _positive(distance: FloatArray, sigma: FloatArray | None) -> bool:
    return bool((distance > 0).all() and (sigma is None or (sigma > 0).all()))


def _warn(
    source: str,
    network: DistanceNetwork,
    distance: FloatArray,
    pair: IntArray,
    mean: FloatArray,
    ends: IntArray,
) -> None:
    """Warn of repeated distances that contradict each other."""
    away = np.abs(distance - mean[pair]) / mean[pair]
    if away.max() <= _CONTRADICTION:
        return
    worst = int(pair[np.argmax(away)])
    found = distance[pair == worst]
    i, j = (printable(network.name(int(k))) for k in ends[:, worst])
    pairs = len(np.unique(pair[away > _CONTRADICTION]))
    log.warning(
        "%s: repeated distances of %d pairs contradict each other, %s - %s most (%.4g to %.4g); "
        "their mean is used: remove the wrong ones",
        source,
        pairs,
        i,
        j,
        found.min(),
        found.max(),
    )
