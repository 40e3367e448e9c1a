"""The law of training graphs: ranges and weights, from which a graph is drawn by its number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np

from gnnsync.data.stream.families import FAMILIES
from gnnsync.data.stream.laws import INLIER_LAWS, OUTLIER_LAWS, PRIORS, measured
from gnnsync.errors import ParameterError, check_choice, check_integer, check_real
from gnnsync.graph import MeasurementGraph

Part = TypeVar("Part")
Range = tuple[float, float]

# Beyond this share of outliers no degree of the stream leaves enough inliers per node.
LARGEST_ETA = 0.92
# The least degree leaves this room for the signal: s reaches so many times its low end without
# outliers. On 12 Erdős–Rényi graphs with four groups, belief propagation had a median MSE of .43
# with 1.5 and of .03 with 3.
_ROOM = 3.0
# The least degree is at most this part of the largest one, so that degrees differ.
_LARGEST_LEAST = 0.6
# The least number of nodes relative to the least degree: a graph that is not almost complete.
_NODES_PER_DEGREE = 1.5
# Seeds of training are below this, see `numbered_graph`.
MOST_SEED = 2**32 - 1


def _weights(**weights: float) -> Any:
    return field(default_factory=lambda: dict(weights))


@dataclass(frozen=True)
class GraphLaw:
    """Draws a measurement graph with its truth from a generator.

    The noise is chosen by the signal s = d((1-η)/k)², with d the mean degree: on a random graph
    with uniform outliers nothing can be recovered below s = 1. s is log-uniform in `signal`, but
    at most d/k² (no outliers), and η = 1 - k·sqrt(s/d), at most `LARGEST_ETA`. So most graphs are
    neither hopeless nor trivial, whatever their degree.

    Ranges are (low, high). Weights are relative; a name that is left out is not drawn.

    Args:
        nodes: number of nodes n, log-uniform; the range is narrower for k > 1, where the degree
            must be larger.
        degree: mean degree d, log-uniform; the low end is raised for k > 1 so that s can reach
            up to three times the low end of `signal`, the high end bounded by n - 1 and
            `max_edges`.
        signal: s of families without geometry.
        spatial_signal: s of spatial families, see `Family.spatial`.
        sigma: scale σ of the inliers' noise, log-uniform.
        groups: weight of each number of groups k.
        families: weight of each family of `FAMILIES`.
        inlier_laws: weight of each law of `INLIER_LAWS`.
        outlier_laws: weight of each law of `OUTLIER_LAWS`.
        priors: weight of each law of the true angles of `PRIORS`.
        weighted: share of graphs with edge weights: log-normal of mean 1 and of a standard
            deviation of the logarithm in `weight_spread`; an inlier's noise is σ/√w.
        weight_spread: see `weighted`.
        trusted: share of graphs with trusted edges.
        trusted_share: which share of the inliers is trusted in these graphs, log-uniform.
        max_edges: bound on the number of edges times k, and so on memory and time.
    """

    nodes: Range = (30, 400)
    degree: Range = (5.0, 80.0)
    signal: Range = (1.0, 30.0)
    spatial_signal: Range = (2.0, 60.0)
    sigma: Range = (0.02, 0.4)
    groups: Mapping[int, float] = field(default_factory=lambda: {1: 0.55, 2: 0.2, 3: 0.15, 4: 0.1})
    families: Mapping[str, float] = _weights(
        erdos_renyi=2,
        barabasi_albert=2,
        random_geometric=3,
        small_world=1,
        grid=1,
        loop_closures=1,
        map_patches=1,
    )
    inlier_laws: Mapping[str, float] = _weights(
        normal=5, laplace=1, student=1, uniform=1, exact=1.5
    )
    outlier_laws: Mapping[str, float] = _weights(
        uniform=6, clustered=1, second_solution=1, biased=1
    )
    priors: Mapping[str, float] = _weights(
        gamma=1, normal_rank1=1, normal_iid=1, normal_blocks=1, uniform=2
    )
    weighted: float = 0.15
    weight_spread: Range = (0.2, 1.0)
    trusted: float = 0.15
    trusted_share: Range = (0.02, 0.3)
    max_edges: int = 24_000

    def __post_init__(self) -> None:
        self._make_plain()
        for name, low in (("nodes", 8), ("degree", 2.0), ("sigma", 0), ("weight_spread", 0)):
            self._check_range(name, low)
        for name in ("signal", "spatial_signal", "trusted_share"):
            self._check_range(name, 0)
        check_real("trusted_share", self.trusted_share[1], 0, 1)
        check_real("weighted", self.weighted, 0, 1)
        check_real("trusted", self.trusted, 0, 1)
        check_integer("max_edges", self.max_edges, 1)
        for name, known in (
            ("families", FAMILIES),
            ("inlier_laws", INLIER_LAWS),
            ("outlier_laws", OUTLIER_LAWS),
            ("priors", PRIORS),
        ):
            for choice in getattr(self, name):
                check_choice(name, choice, known)
            _check_weights(name, getattr(self, name))
        for k in self.groups:
            check_integer("groups", k, 1)
        _check_weights("groups", self.groups)

    def __call__(self, rng: np.random.Generator, k: int | None = None) -> MeasurementGraph:
        """A connected graph with `angles` (n, k) and `group` (m,); k drawn if not given."""
        drawn = self.draw_groups(rng)
        k = drawn if k is None else check_integer("k", k, 1)
        family = FAMILIES[_choose(self.families, rng)]
        signal = self.spatial_signal if family.spatial else self.signal
        n, degree = self._size(k, signal, rng)
        pairs = family(n, degree, rng)
        m: int = pairs.shape[1]
        eta = self._eta(2.0 * m / n, k, signal, rng)
        weight = None
        if rng.random() < self.weighted:
            spread = _log_uniform(self.weight_spread, rng)
            weight = rng.lognormal(-(spread**2) / 2.0, spread, m)
        graph = measured(
            pairs,
            PRIORS[_choose(self.priors, rng)](n, k, rng),
            eta,
            _log_uniform(self.sigma, rng),
            inlier_law=INLIER_LAWS[_choose(self.inlier_laws, rng)],
            outlier_law=OUTLIER_LAWS[_choose(self.outlier_laws, rng)],
            rng=rng,
            weight=weight,
        )
        return self._with_trusted(graph, rng)

    def draw_groups(self, rng: np.random.Generator) -> int:
        """A number of groups k."""
        return int(_choose(self.groups, rng))

    def _size(self, k: int, signal: Range, rng: np.random.Generator) -> tuple[int, float]:
        """Number of nodes and mean degree."""
        raised = min(_ROOM * k * k * signal[0], _LARGEST_LEAST * self.degree[1])
        least = max(self.degree[0], raised)
        edges = self.max_edges / k
        high = max(min(self.nodes[1], 2.0 * edges / least), self.nodes[0])
        low = min(max(self.nodes[0], _NODES_PER_DEGREE * least), high)
        n = int(_log_uniform((low, high), rng))
        most = min(self.degree[1], n - 1.0, 2.0 * edges / n)
        return n, _log_uniform((min(least, most), most), rng)

    def _eta(self, degree: float, k: int, signal: Range, rng: np.random.Generator) -> float:
        most = min(signal[1], degree / (k * k))
        drawn = _log_uniform((min(signal[0], most), most), rng)
        return float(np.clip(1.0 - k * np.sqrt(drawn / degree), 0.0, LARGEST_ETA))

    def _with_trusted(self, graph: MeasurementGraph, rng: np.random.Generator) -> MeasurementGraph:
        if rng.random() >= self.trusted or graph.group is None:
            return graph
        share = _log_uniform(self.trusted_share, rng)
        return replace(graph, trusted=(graph.group >= 0) & (rng.random(graph.num_edges) < share))

    def _make_plain(self) -> None:
        """Tuples and dictionaries from the lists and mappings of a config: workers pickle them."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Mapping):
                object.__setattr__(self, item.name, dict(value))
            elif isinstance(value, Sequence):
                object.__setattr__(self, item.name, tuple(value))

    def _check_range(self, name: str, least: float) -> None:
        value = getattr(self, name)
        if len(value) != 2:
            raise ParameterError(name, value, "a range [low, high]")
        low = check_real(name, value[0], least, open_low=least == 0)
        check_real(name, value[1], low)


def numbered_graph(law: GraphLaw, seed: int, number: int, k: int | None = None) -> MeasurementGraph:
    """Graph `number` of the stream with this seed: it depends on nothing else.

    The generator's entropy is (seed, number), at most three words of 32 bits. Other streams of
    this package set a fourth word, and so never share a generator with training.
    """
    check_integer("seed", seed, 0, MOST_SEED)
    check_integer("number", number, 0, 2**64 - 1)
    return law(np.random.default_rng([seed, number]), k)


def _log_uniform(bounds: Range, rng: np.random.Generator) -> float:
    return float(np.exp(rng.uniform(np.log(bounds[0]), np.log(bounds[1]))))


def _choose(weights: Mapping[Part, float], rng: np.random.Generator) -> Part:
    """A key, with a chance proportional to its weight."""
    names = list(weights)
    total = np.cumsum([weights[name] for name in names])
    return names[int(np.searchsorted(total, rng.random() * total[-1], side="right"))]


def _check_weights(name: str, weights: Mapping[Any, float]) -> None:
    values = [check_real(f"{name}.{choice}", weights[choice], 0) for choice in weights]
    if not sum(values) > 0:
        raise ParameterError(name, dict(weights), "weights of which at least one is above 0")
