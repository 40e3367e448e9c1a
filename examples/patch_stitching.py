"""Stitch a map from rotated, noisy patches of it.

Each point of a cloud knows its neighbours in a coordinate frame rotated by an unknown angle. Two
patches with common points determine their relative rotation; synchronization estimates all
rotations at once, and averaging the patches rotated back gives the map.
"""

from __future__ import annotations

import sys

import gnnsync
from gnnsync.data import PatchNetworks
from gnnsync.data.points import Letters
from gnnsync.data.priors import UniformAngles
from gnnsync.metrics import average_normalized_error
from gnnsync.plots.maps import map_figure


def main(picture: str | None = None) -> float:
    """Print the error of the map before and after synchronization; return the error after."""
    data = PatchNetworks(
        points=Letters("PACM"), angles=UniformAngles(), eta=0.1, weights="precision", seeds=[0]
    )
    graph = data.graphs[0]
    print(f"{graph.num_nodes} patches, {graph.num_edges} pairs with common points")

    before = data.reconstruct(0, gnnsync.solve(graph, method="trivial"))
    after = data.reconstruct(0, gnnsync.solve(graph, method="irls"))
    errors = [average_normalized_error(found.recovered, found.points) for found in (before, after)]
    print(f"average normalized error: {errors[0]:.3f} before, {errors[1]:.3f} after")
    if picture:
        map_figure(after.points, after.recovered, "PACM").savefig(picture, dpi=120)
    return errors[1]


if __name__ == "__main__":
    main(*sys.argv[1:2])
