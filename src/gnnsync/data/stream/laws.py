"""Laws of the measured offsets: noise of inliers, and where outliers come from.

An inlier law draws noise of unit scale from (size, rng); the graph multiplies it by σ. An outlier
law draws offsets from (edges (2, o), angles (n, k), most, rng), where `most` is the largest share
of the outliers that may agree with one another: beyond it, nobody could tell which solution is the
true one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gnnsync.angles import TWO_PI, reduce_angle
from gnnsync.data.priors import (
    GammaAngles,
    NormalBlockAngles,
    NormalIIDAngles,
    NormalRankOneAngles,
    Prior,
    UniformAngles,
)
from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.typing import FloatArray, IntArray

InlierLaw = Callable[[int, np.random.Generator], FloatArray]
"""Draws noise (size,) of unit scale from (size, rng)."""

OutlierLaw = Callable[[IntArray, FloatArray, float, np.random.Generator], FloatArray]
"""Draws offsets (o,) from (edges (2, o), angles (n, k), most, rng)."""

# Median of |x| for a standard normal x.
_NORMAL_MEDIAN = 0.6744897501960817


@dataclass(frozen=True)
class NormalNoise:
    """Standard normal."""

    def __call__(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Noise (size,)."""
        return rng.standard_normal(size)


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace (two-sided exponential) with standard deviation 1."""

    def __call__(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Noise (size,)."""
        return rng.laplace(0.0, np.sqrt(0.5), size)


@dataclass(frozen=True)
class UniformNoise:
    """Uniform on [-√3, √3]: standard deviation 1."""

    def __call__(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Noise (size,)."""
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size)


@dataclass(frozen=True)
class StudentNoise:
    """Student's t with ν degrees of freedom and standard deviation 1.

    For ν ≤ 2 the variance is infinite: the median of the magnitude is then that of a standard
    normal.
    """

    degrees_of_freedom: float = 4.0

    def __post_init__(self) -> None:
        check_real("degrees_of_freedom", self.degrees_of_freedom, 0, open_low=True)

    def __call__(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Noise (size,)."""
        nu = self.degrees_of_freedom
        if nu > 2:
            scale = np.sqrt((nu - 2.0) / nu)
        else:
            from scipy.stats import t  # slow to load, and only the test set has such a law

            scale = _NORMAL_MEDIAN / float(t.ppf(0.75, nu))
        return scale * rng.standard_t(nu, size)


@dataclass(frozen=True)
class ExactOffsets:
    """No noise: inliers are exact, whatever σ is."""

    def __call__(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Zeros (size,)."""
        return np.zeros(size)


@dataclass(frozen=True)
class UniformOutliers:
    """Offsets uniform on the circle: the paper's outliers."""

    def __call__(
        self, edges: IntArray, angles: FloatArray, most: float, rng: np.random.Generator
    ) -> FloatArray:
        """Offsets (o,)."""
        size: int = edges.shape[1]
        return rng.uniform(0.0, TWO_PI, size)


@dataclass(frozen=True)
class ClusteredOutliers:
    """Offsets around one to `directions` directions common to the whole graph.

    The deviation from a direction is normal with a standard deviation in `spread`.
    """

    directions: int = 4
    spread: tuple[float, float] = (0.1, 0.8)

    def __post_init__(self) -> None:
        check_integer("directions", self.directions, 1)
        check_real("spread", self.spread[0], 0)
        check_real("spread", self.spread[1], self.spread[0])

    def __call__(
        self, edges: IntArray, angles: FloatArray, most: float, rng: np.random.Generator
    ) -> FloatArray:
        """Offsets (o,)."""
        size = edges.shape[1]
        direction = rng.uniform(0.0, TWO_PI, int(rng.integers(1, self.directions + 1)))
        spread = rng.uniform(*self.spread)
        own = direction[rng.integers(len(direction), size=size)]
        return own + spread * rng.standard_normal(size)


@dataclass(frozen=True)
class SecondSolution:
    """A share of the outliers agrees with other, hidden angles; the rest is uniform.

    The hidden angles are uniform on the circle. The share is uniform between 0 and `share`, and at
    most `most`; the noise of those that agree is normal with the standard deviation `noise`.
    """

    share: float = 0.8
    noise: float = 0.1

    def __post_init__(self) -> None:
        check_real("share", self.share, 0, 1)
        check_real("noise", self.noise, 0)

    def __call__(
        self, edges: IntArray, angles: FloatArray, most: float, rng: np.random.Generator
    ) -> FloatArray:
        """Offsets (o,)."""
        size = edges.shape[1]
        hidden = rng.uniform(0.0, TWO_PI, len(angles))
        share = rng.uniform(0.0, min(self.share, most))
        agreeing = hidden[edges[0]] - hidden[edges[1]] + self.noise * rng.standard_normal(size)
        return np.where(rng.random(size) < share, agreeing, rng.uniform(0.0, TWO_PI, size))


@dataclass(frozen=True)
class BiasedOutliers:
    """True offsets of a random group plus one bias common to all outliers of the graph.

    The bias has a magnitude in `bias` and a random sign; normal noise with a standard deviation in
    `spread` is added. Because the edges are directed at random, the biases of a cycle do not add
    up to a rotation, and no other angles explain them.
    """

    bias: tuple[float, float] = (0.7, 3.14)
    spread: tuple[float, float] = (0.1, 0.6)

    def __post_init__(self) -> None:
        for name in ("bias", "spread"):
            low, high = getattr(self, name)
            check_real(name, high, check_real(name, low, 0))

    def __call__(
        self, edges: IntArray, angles: FloatArray, most: float, rng: np.random.Generator
    ) -> FloatArray:
        """Offsets (o,)."""
        size = edges.shape[1]
        group = rng.integers(angles.shape[1], size=size)
        bias = rng.uniform(*self.bias) * rng.choice([-1.0, 1.0])
        noise = rng.uniform(*self.spread) * rng.standard_normal(size)
        return angles[edges[0], group] - angles[edges[1], group] + bias + noise


INLIER_LAWS: Mapping[str, InlierLaw] = MappingProxyType(
    {
        "normal": NormalNoise(),
        "laplace": LaplaceNoise(),
        "student": StudentNoise(),
        "uniform": UniformNoise(),
        "exact": ExactOffsets(),
    }
)
"""Laws of inliers of training by name."""

OUTLIER_LAWS: Mapping[str, OutlierLaw] = MappingProxyType(
    {
        "uniform": UniformOutliers(),
        "clustered": ClusteredOutliers(),
        "second_solution": SecondSolution(),
        "biased": BiasedOutliers(),
    }
)
"""Laws of outliers of training by name."""

PRIORS: Mapping[str, Prior] = MappingProxyType(
    {
        "gamma": GammaAngles(),
        "normal_rank1": NormalRankOneAngles(),
        "normal_iid": NormalIIDAngles(),
        "normal_blocks": NormalBlockAngles(),
        "uniform": UniformAngles(),
    }
)
"""Laws of the true angles of training by name."""

# The strongest second solution has this share of the number of inliers of one true group.
_WEAKER = 0.7


def measured(
    pairs: IntArray,
    angles: FloatArray,
    eta: float,
    sigma: float,
    *,
    inlier_law: InlierLaw,
    outlier_law: OutlierLaw,
    rng: np.random.Generator,
    weight: FloatArray | None = None,
) -> MeasurementGraph:
    """Measure `angles` (n, k) on `pairs` (2, m), each directed either way with equal chance.

    An edge is an outlier with probability η; else it belongs to one of the k groups, with equal
    chance, and measures θ_i - θ_j + σ/√w · noise.

    Args:
        pairs: (2, m), i < j.
        angles: (n, k) true angles.
        eta: probability η of an outlier.
        sigma: scale σ of the noise of inliers.
        inlier_law: noise of unit scale.
        outlier_law: offsets of outliers.
        rng: the source of randomness.
        weight: (m,) precisions of the inliers relative to 1/σ²; ones if None.
    """
    n, k = angles.shape
    m: int = pairs.shape[1]
    edges = np.where(rng.random(m) < 0.5, pairs, pairs[::-1])
    outlier = rng.random(m) < eta
    group = np.where(outlier, -1, rng.integers(k, size=m))
    noise = sigma * inlier_law(m, rng)
    if weight is not None:
        noise = noise / np.sqrt(weight)
    own = np.maximum(group, 0)
    offset = angles[edges[0], own] - angles[edges[1], own] + noise
    if outlier.any():
        most = min(_WEAKER * (1.0 - eta) / (k * eta), 1.0)
        offset[outlier] = outlier_law(edges[:, outlier], angles, most, rng)
    return MeasurementGraph(
        edges, reduce_angle(offset), n, weight=weight, angles=angles, group=group
    )
