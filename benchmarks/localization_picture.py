"""From distances to a map in six pictures: `python -m benchmarks.localization_picture --help`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from gnnsync.data import DistanceNetworks
from gnnsync.data.points import Letters
from gnnsync.distance_network import DistanceNetwork
from gnnsync.localization.base import LocalPatches
from gnnsync.localization.peers import MDSMap
from gnnsync.localization.pipeline import Localization
from gnnsync.plots.style import FAINT, GROUPS, UNKNOWN, WRONG, group_colour
from gnnsync.positions import Positions, aligned_points, aligned_positions, position_rmse
from gnnsync.typing import FloatArray, IntArray

# Patches that are shown one by one, of all.
_SHOWN = 8


def story(eta: float, outliers: float, degree: float, seed: int) -> Figure:
    """The steps on the letters: distances, patches, synchronized patches, maps, errors."""
    steps = Localization()
    data = DistanceNetworks(
        Letters(), steps, degree=degree, eta=eta, outliers=outliers, seeds=[seed]
    )
    network, found = data.measurements(seed)
    positions = steps(network, seed=seed)
    assert positions.rotations is not None
    angles = positions.rotations.angles[:, 0]
    stitched = steps.translations(found.patches, found.signs, angles, network.num_points)
    figure = Figure(figsize=(12.0, 8.4), layout="constrained")
    grid = figure.subplots(3, 2).ravel()
    _draw_distances(grid[0], network)
    chosen = _spread_patches(found.patches, network)
    _draw_patches(grid[1], found.patches, chosen)
    shown = aligned_points(stitched, network)
    _draw_synchronized(grid[2], shown, found.patches, chosen, angles, found.signs)
    _draw_map(grid[3], network, shown, "4  the patches together")
    _draw_located(grid[4], network, aligned_positions(positions, network, positions.localizable))
    other = MDSMap(refined=True)(network, seed=seed).points
    _draw_map(grid[5], network, other, "beside it, MDS-MAP, refined")
    figure.suptitle(
        f"{network.num_points} points, {network.num_edges} distances with η = {eta:g}, "
        f"{outliers:.0%} of them gross errors"
    )
    return figure


def _draw_distances(axes: Axes, network: DistanceNetwork) -> None:
    assert network.points is not None
    assert network.outlier is not None
    ends = network.points[network.pairs.T]
    for chosen, colour, width in ((~network.outlier, FAINT, 0.4), (network.outlier, WRONG, 0.5)):
        axes.add_collection(LineCollection(list(ends[chosen]), colors=colour, linewidths=width))
    _dots(axes, network.points, UNKNOWN)
    _finish(axes, "1  which distances are measured; gross errors in red")


def _spread_patches(patches: LocalPatches, network: DistanceNetwork) -> IntArray:
    """Patches whose middles are far from each other."""
    assert network.points is not None
    middle = np.array(
        [network.points[patches.members(a)].mean(axis=0) for a in range(len(patches))]
    )
    chosen = [0]
    for _ in range(min(_SHOWN, len(patches)) - 1):
        apart = np.linalg.norm(middle[:, None] - middle[chosen], axis=2).min(axis=1)
        chosen.append(int(np.argmax(apart)))
    return np.array(sorted(chosen, key=lambda a: middle[a, 0]))


def _draw_patches(axes: Axes, patches: LocalPatches, chosen: IntArray) -> None:
    """Each patch in its own frame, side by side in two rows."""
    assert patches.position is not None
    own = [patches.position[patches.indptr[a] : patches.indptr[a + 1]] for a in chosen.tolist()]
    own = [place - place.mean(axis=0) for place in own]
    step = 2.2 * max(float(np.abs(place).max()) for place in own)
    for number, place in enumerate(own):
        row, column = divmod(number, (len(own) + 1) // 2)
        _dots(axes, place + step * np.array([column, -row]), group_colour(number), 9)
    _finish(axes, f"2  {len(chosen)} of {len(patches)} patches, each in a frame of its own")


def _draw_synchronized(
    axes: Axes,
    points: FloatArray,
    patches: LocalPatches,
    chosen: IntArray,
    angles: FloatArray,
    signs: IntArray,
) -> None:
    """The same patches reflected, rotated and shifted to the map of all."""
    assert patches.position is not None
    _dots(axes, points, FAINT, 3)
    for number, a in enumerate(chosen.tolist()):
        place = patches.position[patches.indptr[a] : patches.indptr[a + 1]]
        z = place[:, 0] + 1j * signs[a] * place[:, 1]
        goal = points[patches.members(a)] @ [1.0, 1j]
        z = z * np.exp(1j * angles[a])
        z, centred = z - z.mean(), goal - goal.mean()
        # The map was moved onto the truth: the same motion for all patches, fitted to this one.
        straight, mirrored = (centred @ np.conj(w) for w in (z, np.conj(z)))
        turned = z * straight / abs(straight)
        if abs(mirrored) > abs(straight):
            turned = np.conj(z) * mirrored / abs(mirrored)
        turned = turned + goal.mean()
        _dots(axes, np.stack([turned.real, turned.imag], axis=1), group_colour(number), 9)
    _finish(axes, "3  after synchronization of reflections and rotations")


def _draw_map(axes: Axes, network: DistanceNetwork, points: FloatArray, name: str) -> None:
    assert network.points is not None
    moved = aligned_points(points, network)
    _errors(axes, network, moved)
    _finish(axes, f"{name}: RMSE {position_rmse(points, network):.3g}")


def _draw_located(axes: Axes, network: DistanceNetwork, positions: Positions) -> None:
    known = positions.localizable
    _errors(axes, network, positions.points)
    error = position_rmse(positions.points, network, known)
    _finish(axes, f"5  fitted to all distances: RMSE {error:.3g}, {known.sum()} localizable points")


def _errors(axes: Axes, network: DistanceNetwork, points: FloatArray) -> None:
    """The points, with lines to their true places."""
    assert network.points is not None
    placed = np.isfinite(points).all(axis=1)
    ends = np.stack([points, network.points], axis=1)[placed]
    axes.add_collection(LineCollection(list(ends), colors="#222222", linewidths=0.8))
    _dots(axes, points[placed], GROUPS[0], 5)


def _dots(axes: Axes, points: FloatArray, colour: str, size: float = 5.0) -> None:
    axes.scatter(*points.T, s=size, color=colour, linewidths=0, zorder=3)


def _finish(axes: Axes, title: str) -> None:
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title, fontsize=10, loc="left")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("docs/figures/distances.png"))
    parser.add_argument("--eta", type=float, default=0.1)
    parser.add_argument("--outliers", type=float, default=0.1)
    parser.add_argument("--degree", type=float, default=12.0)
    parser.add_argument("--seed", type=int, default=10)
    options = parser.parse_args()
    figure = story(options.eta, options.outliers, options.degree, options.seed)
    figure.savefig(options.output, dpi=110)
    print(options.output)


if __name__ == "__main__":
    main()
