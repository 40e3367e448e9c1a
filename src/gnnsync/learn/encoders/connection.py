"""Connection network: messages that carry the offsets as phases."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gnnsync.errors import check_integer
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.edges import gather_at
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.head import Head, PhaseHead, phase_scores
from gnnsync.learn.replicas import ReplicaDropout, xavier

# Keeps |h| differentiable at 0.
_SMOOTH = 1e-12
# Weight below which the messages at a node count as none.
_NO_WEIGHT = 1e-6


class Connection(Encoder):
    r"""Message passing that is equivariant to rotations, of all nodes or of each node by itself.

    Node features are complex vectors :math:`h_i \in ℂ^{C}` per set, at first the phases of the
    input angles. A message crosses an edge by its offset (parallel transport, as in the graph
    connection Laplacian of Singer and Wu 2012), weighted by how well the two ends agree:

    .. math::
        ρ_{ij} = \frac1C \sum_c \mathrm{Re}\bigl(\bar{\hat h}_{ic} e^{ia_{ij}} \hat h_{jc}\bigr),
        \quad g_{ij} = w_{ij}\,\mathrm{sigmoid}(β(ρ_{ij} - τ)), \quad
        m_i = \frac{\sum_j g_{ij} e^{ia_{ij}} h_j}{\sum_j g_{ij}}, \quad
        h_i \leftarrow ς(h_i W_0 + m_i W_1),

    with :math:`\hat h = h/|h|`, real W, and ς(z) = z·ReLU(|z| + b)/|z|. β, τ, W and b are learned
    per layer. For k > 1 an edge is shared among the groups by a softmax of βρ. All of it commutes
    with :math:`h_i \to e^{iφ_i} h_i, a_{ij} \to a_{ij} + φ_i - φ_j`, so the head (`PhaseHead`)
    reads off the angle as an argument instead of squashing a score. The input phase is passed on
    beside the last features, so that the network starts from its features.

    With as many features as groups, group l sees column l; otherwise every group sees all of them.

    Args:
        replicas: R.
        in_features: columns of the features, angles.
        groups: k.
        width: C.
        layers: number of layers.
        dropout: fraction of hidden units dropped while training.

    Shapes: X (R, n, in) → Z (R, n, k, 2·(width + 1)), real parts before imaginary ones.
    """

    def __init__(
        self,
        replicas: int,
        in_features: int,
        groups: int,
        width: int = 8,
        layers: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.width = check_integer("width", width, 1)
        self.layers = check_integer("layers", layers, 1)
        self.groups, self.embedding = groups, 2 * (width + 1)
        self.inputs = 1 if in_features == groups else in_features
        self.lift = nn.Parameter(torch.empty(replicas, groups, self.inputs, width))
        self.mix = nn.Parameter(torch.empty(replicas, layers, groups, 2 * width, width))
        self.bias = nn.Parameter(torch.zeros(replicas, layers, groups, width))
        self.slope = nn.Parameter(torch.zeros(replicas, layers))
        self.threshold = nn.Parameter(torch.zeros(replicas, layers))
        self.dropouts = nn.ModuleList(ReplicaDropout(dropout, layer) for layer in range(layers))

    def head(self, replicas: int, groups: int) -> Head:
        """The argument of a sum of the complex embedding's entries."""
        return PhaseHead(replicas, groups, self.embedding)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier weights; zero bias; agreement from β = 4, τ = 1/2 on."""
        xavier(self.lift, generators, 1.0)
        xavier(self.mix, generators, 1.0)
        nn.init.zeros_(self.bias)
        nn.init.constant_(self.slope, 4.0)
        nn.init.constant_(self.threshold, 0.5)

    def forward(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, in) → (R, n, k, 2·(width + 1))."""
        phase = torch.polar(torch.ones_like(x), x)
        if self.inputs == 1 and x.shape[-1] == self.groups:
            phase = phase.unsqueeze(-1)
        else:
            phase = phase.unsqueeze(2).expand(-1, -1, self.groups, -1)
        hidden = _mixed(phase, self.lift)
        for layer, dropout in enumerate(self.dropouts):
            message = self._message(hidden, layer, batch)
            hidden = _mixed(torch.cat([hidden, message], dim=-1), self.mix[:, layer])
            hidden = dropout(_shrunk(hidden, self.bias[:, layer].unsqueeze(1)))
        out = torch.cat([phase.mean(dim=-1, keepdim=True), hidden], dim=-1)
        return torch.cat([out.real, out.imag], dim=-1)

    def scores(self, x: Tensor, vector: Tensor, batch: ReplicaBatch) -> Tensor:
        """Complex numbers (R, n, k) whose arguments are the angles."""
        return phase_scores(self(x, batch), vector)

    def _message(self, hidden: Tensor, layer: int, batch: ReplicaBatch) -> Tensor:
        """Agreement-weighted mean of what the neighbours send, (R, n, k, C)."""
        shape = (batch.num_graphs, -1, batch.trials, self.groups, self.width)
        rows = batch.node_rows(hidden.flatten(2))
        src, dst = batch.ends
        offset = batch.offset.unsqueeze(-1).unsqueeze(-1)
        turn = torch.polar(torch.ones_like(offset), offset)
        here, there = (rows.index_select(0, end).view(shape) for end in (src, dst))
        to_src, to_dst = turn * there, turn.conj() * here
        unit, other = (z / (z.abs() + _SMOOTH) for z in (here, to_src))
        agreement = (unit.conj() * other).real.mean(dim=-1)
        own = (batch.num_graphs, 1, batch.trials, 1)
        slope, threshold = (p[:, layer].view(own) for p in (self.slope, self.threshold))
        gate = torch.sigmoid(slope * (agreement - threshold))
        if self.groups > 1:
            gate = gate * torch.softmax(slope * agreement, dim=-1)
        gate = (gate * batch.weight.unsqueeze(-1)).unsqueeze(-1)
        total = gather_at(gate * to_src, src, batch) + gather_at(gate * to_dst, dst, batch)
        weight = gather_at(gate, src, batch) + gather_at(gate, dst, batch)
        nodes = (batch.replicas, batch.num_nodes, self.groups, -1)
        total, weight = (batch.replica_nodes(part).view(nodes) for part in (total, weight))
        return total / (weight + _NO_WEIGHT)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"width={self.width}, layers={self.layers}"


def _mixed(h: Tensor, weight: Tensor) -> Tensor:
    """(R, n, k, in) complex times real (R, k, in, out)."""
    return torch.matmul(h.transpose(1, 2), weight.to(h.dtype)).transpose(1, 2)


def _shrunk(z: Tensor, bias: Tensor) -> Tensor:
    """z·ReLU(|z| + b)/|z|: acts on the length alone."""
    size = torch.sqrt(z.real.square() + z.imag.square() + _SMOOTH)
    return z * (torch.relu(size + bias) / size)
