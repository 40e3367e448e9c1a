"""Stitch a map from rotated, noisy patches of it.

Every point of a cloud sees its neighbours in a frame of its own, turned by an unknown angle.
Patches with points in common tell their relative rotation; synchronization finds all rotations
at once, and averaging the turned patches gives the map.
"""

from __future__ import annotations

import sys

import gnnsync
from gnnsync.data import LocalizationDataModule
from gnnsync.data.points import Letters
from gnnsync.data.priors import UniformAngles


def main(picture: str | None = None) -> dict[str, float]:
    """Print the error of the map before and after; return that of the stitched map."""
    data = LocalizationDataModule(
        points=Letters("PACM"), angles=UniformAngles(), eta=0.1, weights="precision", seeds=[0]
    )
    graph = data.graphs[0]
    print(f"{graph.num_nodes} patches, {graph.num_edges} pairs with common points")

    untouched = data.extra_metrics(0, gnnsync.solve(graph, method="trivial"))
    solution = gnnsync.solve(graph, method="irls")
    stitched = data.extra_metrics(0, solution)
    print(f"average normalized error: {untouched['ane']:.3f} untouched, {stitched['ane']:.3f} now")
    if picture:
        data.figures(0, solution)["map"].savefig(picture, dpi=120)
    return stitched


if __name__ == "__main__":
    main(*sys.argv[1:2])
