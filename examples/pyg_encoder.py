"""PyTorch Geometric: measurements in a `Data`, and its convolutions as the encoder of GNNSync.

A `Data` with edges, offsets as `edge_attr` and true angles as `y` becomes a measurement graph.
GNNSync is trained on it with two convolutions: `GCNConv`, which takes the offsets as edge weights,
and `DirGNNConv`, which sends messages along and against the edges. The answer goes back into a
`Data`.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import DirGNNConv, GATConv, GCNConv

import gnnsync
from gnnsync.learn import GNNSync, Training
from gnnsync.learn.encoders import PyG
from gnnsync.metrics import angular_mse

NODES, DENSITY, OUTLIERS = 120, 0.2, 0.4


def measured(generator: torch.Generator) -> Data:
    """Offsets θ_src − θ_dst on a random graph; a part of them is random."""
    pairs = torch.combinations(torch.arange(NODES)).T
    edges = pairs[:, torch.rand(pairs.shape[1], generator=generator) < DENSITY]
    angles = 2 * math.pi * torch.rand(NODES, generator=generator, dtype=torch.float64)
    offsets = (angles[edges[0]] - angles[edges[1]]) % (2 * math.pi)
    wrong = torch.rand(edges.shape[1], generator=generator) < OUTLIERS
    random = 2 * math.pi * torch.rand(len(offsets), generator=generator, dtype=torch.float64)
    offsets = torch.where(wrong, random, offsets)
    return Data(edge_index=edges, edge_attr=offsets, y=angles, num_nodes=NODES)


def directed_attention(in_channels: int, out_channels: int) -> nn.Module:
    """A layer made from (in_channels, out_channels), as the encoder asks for it."""
    conv = GATConv(in_channels, out_channels, heads=1, add_self_loops=False)
    return DirGNNConv(conv, alpha=0.5, root_weight=True)


def main() -> dict[str, float]:
    """Train with both convolutions; print and return the errors, with that of the features."""
    data = measured(torch.Generator().manual_seed(3))
    graph = gnnsync.MeasurementGraph.from_pyg(data)
    print(graph)
    errors = {
        "features": angular_mse(gnnsync.solve(graph, method="spectral_rn").angles, graph.angles)
    }
    convolutions = {"GCNConv": GCNConv, "DirGNNConv(GATConv)": directed_attention}
    for name, conv in convolutions.items():
        method = GNNSync(encoder=partial(PyG, conv=conv), training=Training(max_steps=200))
        solution = method(graph, seed=1)
        errors[name] = angular_mse(solution.angles, graph.angles)
        data[f"angles_{conv.__name__}"] = torch.tensor(solution.angles)
    for name, error in errors.items():
        print(f"{name:<20} MSE {error:.4f}")
    print(data)
    return errors


if __name__ == "__main__":
    main()
