"""Stitch a map from rotated, noisy patches of it.

Each point of a cloud knows its neighbours in a coordinate frame rotated by an unknown angle. Two
patches with common points determine their relative rotation; synchronization estimates all
rotations at once, and averaging the patches rotated back gives the map.
"""

from __future__ import annotations

import sys

import gnnsync
from gnnsync.data import LocalizationDataModule
from gnnsync.data.points import Letters
from gnnsync.data.priors import UniformAngles


def main(picture: str | None = None) -> dict[str, float]:
    """Print the error of the map before and after synchronization; return the error after."""
    data = LocalizationDataModule(
        points=Letters("PACM"), angles=UniformAngles(), eta=0.1, weights="precision", seeds=[0]
    )
    graph = data.graphs[0]
    print(f"{graph.num_nodes} patches, {graph.num_edges} pairs with common points")

    before = data.extra_metrics(0, gnnsync.solve(graph, method="trivial"))
    solution = gnnsync.solve(graph, method="irls")
    stitched = data.extra_metrics(0, solution)
    print(f"average normalized error: {before['ane']:.3f} before, {stitched['ane']:.3f} after")
    if picture:
        data.figures(0, solution)["map"].savefig(picture, dpi=120)
    return stitched


if __name__ == "__main__":
    main(*sys.argv[1:2])
