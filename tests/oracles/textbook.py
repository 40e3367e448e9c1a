"""GNNSync as a textbook would train it: one replica, n × n tensors, plain autograd.

The yardstick of the speed comparison. What can be built once (A_s, A_t, H, the list of triangles)
is built once; every step is a training pass, a backward pass, an optimizer step and an evaluation
pass, with the best state kept.
"""

import copy

import torch
from torch import Tensor, nn

from gnnsync import MeasurementGraph
from tests.oracles import dense as oracle


class TextbookGNNSync(nn.Module):
    def __init__(
        self,
        graph: MeasurementGraph,
        features: Tensor,
        width: int = 8,
        hops: int = 2,
        dropout: float = 0.5,
        steps: int = 5,
        loss: str = "upset",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        k = features.shape[1]
        hidden = k * width
        self.dense = oracle.dense(graph, dtype)
        self.source = oracle.row_normalised(self.dense.a, 0.5)
        self.target = oracle.row_normalised(self.dense.a.T, 0.5)
        self.features = features.to(dtype)
        shapes = {"s0": (k, hidden), "s1": (hidden, hidden), "t0": (k, hidden)}
        shapes |= {"t1": (hidden, hidden), "vector": (k, 2 * width)}
        self.weights = nn.ParameterDict({name: torch.empty(s) for name, s in shapes.items()})
        for weight in self.weights.values():
            nn.init.xavier_uniform_(weight, gain=1.414)
        self.hop_weight = nn.Parameter(torch.ones(2, hops + 1))
        self.bias = nn.Parameter(torch.zeros(k))
        self.dropout = nn.Dropout(dropout)
        self.alpha = torch.ones(steps, dtype=dtype)
        self.loss_name = loss
        self.triangles = _corners(graph) if loss == "cycle" else None
        self.to(dtype)

    def forward(self) -> Tensor:
        w, x, drop = self.weights, self.features, self.dropout
        source, target = self.hop_weight
        sides = [
            oracle.dimpa_side(x, self.source, w["s0"], w["s1"], source, drop),
            oracle.dimpa_side(x, self.target, w["t0"], w["t1"], target, drop),
        ]
        r = oracle.initial_angles(*sides, w["vector"], self.bias)
        return self._steps(r)

    def _steps(self, y: Tensor) -> Tensor:
        for alpha in self.alpha:
            phase = torch.exp(1j * y)
            y = torch.angle(alpha * phase + self.dense.hermitian @ phase)
        return y

    def loss(self, r: Tensor) -> Tensor:
        if self.loss_name == "upset":
            return oracle.upset_loss(r, self.dense)
        per_group = oracle.residuals(r, self.dense)
        g = oracle.assignment(per_group, self.dense)
        weighted = oracle.reweighted_offsets(per_group.min(dim=0).values, self.dense)
        a = torch.remainder(weighted - weighted.T, oracle.TWO_PI)
        i, j, q = self.triangles
        loss = torch.zeros((), dtype=r.dtype)
        for group in range(r.shape[1]):
            own = g == group
            inside = own[i, j] & own[j, q] & own[q, i]
            s = (a[i, j] + a[j, q] + a[q, i])[inside]
            if len(s):
                least = torch.minimum(
                    torch.remainder(s, oracle.TWO_PI), torch.remainder(-s, oracle.TWO_PI)
                )
                loss = loss + least.mean() / r.shape[1]
        return loss


def train(model: TextbookGNNSync, steps: int) -> list[float]:
    """`steps` optimizer steps with an evaluation pass each; the best state is restored."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.005, weight_decay=5e-4)
    history: list[float] = []
    best = copy.deepcopy(model.state_dict())
    for _ in range(steps):
        model.train()
        optimizer.zero_grad()
        model.loss(model()).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            value = float(model.loss(model()))
        if not history or value < min(history):
            best = copy.deepcopy(model.state_dict())
        history.append(value)
    model.load_state_dict(best)
    return history


def _corners(graph: MeasurementGraph) -> Tensor:
    """The three nodes (3, T) of every triangle."""
    src, dst = graph.edge_index
    first, second = graph.triangles.edges[:, 0], graph.triangles.edges[:, 1]
    # The first edge's ends are two corners, the second's other end is the third.
    i, j = src[first], dst[first]
    q = src[second] + dst[second]
    shared = ((src[second] == i) | (dst[second] == i)).astype(int)
    q = q - (shared * i + (1 - shared) * j)
    return torch.tensor([i.tolist(), j.tolist(), q.tolist()])
