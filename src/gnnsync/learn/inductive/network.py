"""The inductive network: unrolled belief propagation on the circle, learned from many graphs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from gnnsync.errors import ParameterError, check_bool, check_integer
from gnnsync.learn.inductive.batch import GraphBatch
from gnnsync.learn.inductive.circle import Circle
from gnnsync.learn.inductive.propagation import (
    LEAST_SHARE,
    Block,
    Noise,
    State,
    anchored,
    blocks,
    bounded,
    expected_cosine,
    messages,
    next_state,
)
from gnnsync.methods.robust.unrolled.features import EDGE_FEATURES, GRAPH_FEATURES

# Shares and noise at the start of the propagation.
_FIRST_SHARE, _FIRST_SIGMA = 0.5, 0.7
# Bounds of the learned corrections.
_MOST_LOGIT, _MOST_LOG_ODDS = 6.0, 4.0
# Largest log density of an offset that the perceptrons read.
_MOST_FIT = 4.0
# The harmonic whose length shows how sharp a belief is.
_SHARP = 3
# Beyond these sizes, up to which training goes, a graph counts as one of this size.
_MOST_NODES, _MOST_DEGREE = 500.0, 150.0
# Damping before training, as a logit.
_FIRST_DAMPING = -1.5

# What a layer reads of a graph and of an arc; see `_graph_features` and `_arc_features`.
_OF_GRAPH = 11 + GRAPH_FEATURES
_OF_ARC = 11 + EDGE_FEATURES


class Perceptron(nn.Module):
    """A linear map plus a perceptron with one hidden layer; both start at zero."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.inner = nn.Linear(inputs, hidden)
        self.outer = nn.Linear(hidden, outputs, bias=False)
        for zero in (self.linear.weight, self.linear.bias, self.outer.weight):
            nn.init.zeros_(zero)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) → (..., outputs)."""
        return self.linear(x) + self.outer(nn.functional.silu(self.inner(x)))


class Layer(nn.Module):
    r"""One sweep of messages between all nodes.

    .. math::
        μ_{j \to i} = \bigl(c + (1 - c)\,(b_{j \setminus i} * N_{σ})(\cdot - a_{ij})\bigr)^{p},
        \qquad b_{j \setminus i} \propto \Bigl(\prod_{l \ne i} μ_{l \to j}\Bigr)^{τ},

    with c the probability that the edge measures something else than this group. EM estimates of
    the shares and of σ from the last messages, and other invariants of the graph, go through one
    perceptron that gives η, σ, the temperature τ and the damping; invariants of every arc go
    through another that corrects the odds of c and gives the power p.

    Args:
        hidden: hidden units of both perceptrons.
        sigma: before training, log σ is halfway between its EM estimate and that of this σ.
    """

    def __init__(self, hidden: int, sigma: float) -> None:
        super().__init__()
        self.of_graph = Perceptron(_OF_GRAPH, hidden, 4)
        self.of_arc = Perceptron(_OF_ARC, hidden, 2)
        with torch.no_grad():
            linear = self.of_graph.linear
            linear.weight[0, 0], linear.weight[1, 1] = 1.0, 0.5
            linear.bias[1] = 0.5 * torch.log(torch.tensor(sigma))
            linear.bias[3] = _FIRST_DAMPING

    def forward(
        self, state: State, batch: GraphBatch, circle: Circle, turns: Tensor, progress: float
    ) -> State:
        """The state after one sweep; `progress` runs from 0 to 1 over the sweeps."""
        about = _graph_features(state, batch, progress)
        noise = self.noise(about, state)
        parts = []
        for block in blocks(state, batch, noise, circle, turns):
            change = self.of_arc(_arc_features(block, about, batch))
            odds = block.odds + _MOST_LOG_ODDS * torch.tanh(change[..., 0] / _MOST_LOG_ODDS)
            new = messages(block, circle, odds, torch.exp(torch.tanh(change[..., 1])))
            keep = noise.damping[block.graph][:, None, None]
            new = torch.lerp(new, state.log_message[:, block.edges], keep)
            parts.append((new, block.fit, expected_cosine(block, circle)))
        return next_state(parts, batch, noise, circle)

    def noise(self, about: Tensor, state: State) -> Noise:
        """η, σ, temperature and damping from the invariants (G, F) of the graphs."""
        logit, log_sigma, temperature, damping = self.of_graph(about).unbind(1)
        inliers = torch.sigmoid(logit.clamp(-_MOST_LOGIT, _MOST_LOGIT))
        return Noise(
            inliers[:, None] * state.share / state.share.sum(1, keepdim=True),
            bounded(log_sigma),
            torch.exp(torch.tanh(temperature)),
            torch.sigmoid(damping),
        )


class UnrolledPropagation(nn.Module):
    """T layers of circular belief propagation from an initialisation, for any graph and any k.

    Args:
        layers: T.
        bins: B, the bins of a message; even.
        hidden: hidden units of the perceptrons.
        tied: one layer that is iterated, instead of T layers with parameters of their own.
        first_sigma: σ of the first layer before training,
        last_sigma: and of the last one; a geometric sequence between them.
    """

    def __init__(
        self,
        layers: int = 10,
        bins: int = 32,
        hidden: int = 16,
        tied: bool = False,
        first_sigma: float = 0.7,
        last_sigma: float = 0.15,
    ) -> None:
        super().__init__()
        self.num_layers = check_integer("layers", layers, 1)
        if check_integer("bins", bins, 8) % 2:
            raise ParameterError("bins", bins, "an even number")
        self.circle = Circle(bins)
        self.tied = check_bool("tied", tied)
        check_integer("hidden", hidden, 1)
        steps = [0.5] if tied else torch.linspace(0.0, 1.0, layers).tolist()
        widths = [first_sigma ** (1 - t) * last_sigma**t for t in steps]
        self.layers = nn.ModuleList(Layer(hidden, width) for width in widths)
        # Concentration of the first beliefs: constant, and growing with the local agreement.
        self.first = nn.Parameter(torch.tensor([1.0, 1.0]))
        # Logarithm of the temperature of the marginals, before tanh.
        self.last = nn.Parameter(torch.zeros(()))

    def forward(self, batch: GraphBatch, layers: int | None = None) -> list[State]:
        """The states after every layer; `layers` overrides T (see `iterate`)."""
        return list(self.iterate(batch, layers))

    def final(self, batch: GraphBatch, layers: int | None = None) -> State:
        """The last state; the others are not kept."""
        return deque(self.iterate(batch, layers), maxlen=1)[0]

    def iterate(self, batch: GraphBatch, layers: int | None = None) -> Iterator[State]:
        """The states one after the other.

        Args:
            batch: the graphs.
            layers: number of sweeps; by default T and those in which beliefs spread from a seed.
                Untied layers are repeated so that each lasts for the same share of the sweeps.
        """
        state, turns = self.start(batch), self.circle.turns(batch.residual)
        count = layers or self.num_sweeps(batch)
        for number in range(count):
            layer = self.layers[number * len(self.layers) // count]
            state = layer(state, batch, self.circle, turns, number / max(count - 1, 1))
            yield state

    def num_sweeps(self, batch: GraphBatch) -> int:
        """T, more for k > 2; or T and those in which beliefs spread from a seed, solved before."""
        if batch.sweeps:
            return self.num_layers + batch.sweeps
        return self.num_layers * max(1, batch.k - 1)

    def start(self, batch: GraphBatch) -> State:
        """Beliefs around the initial angles, as concentrated as the edges at a node agree there."""
        agreement = torch.cos(batch.residual)
        mean = torch.zeros_like(batch.start, dtype=agreement.dtype)
        for end in batch.ends:
            mean = mean.index_add(0, end, agreement)
        mean = mean / batch.degree.clamp_min(1.0).sqrt()[:, None]
        first = nn.functional.softplus(self.first)
        belief = self.circle.bump(first[0] + first[1] * mean.clamp_min(0.0))
        k, edges = batch.k, batch.ends.shape[1]
        belief = belief * batch.sure[:, None, None]
        return State(
            belief.new_zeros((2, edges, k, self.circle.bins)),
            anchored(belief, batch, self.circle),
            belief.new_full((batch.num_graphs, k), _FIRST_SHARE / k),
            belief.new_full((batch.num_graphs,), _FIRST_SIGMA).log(),
            belief.new_full((edges, k), _FIRST_SHARE / k),
        )

    def marginals(self, state: State) -> Tensor:
        """Probabilities (n, k, B) of the bins, relative to the initial angles."""
        return torch.softmax(torch.exp(torch.tanh(self.last)) * state.log_belief, dim=-1)

    def mean_directions(self, state: State) -> Tensor:
        """Mean (n, k) of e^{ix} under the marginals, relative to the initial angles."""
        return self.circle.mean_direction(self.marginals(state))


def _graph_features(state: State, batch: GraphBatch, progress: float) -> Tensor:
    """Invariants (G, F) of the graphs and of the state."""
    share = state.share.sum(1)
    log_degree = torch.log(batch.degree.clamp_min(1.0))
    first, second = log_degree[batch.ends]
    of_edges = torch.stack(
        [
            state.membership.square().sum(1),
            batch.cycles[:, 1],
            batch.cycles[:, 0] - 0.5 * (first + second),
            batch.trusted,
            (first - second).abs(),
        ],
        dim=1,
    )
    nodes, edges = (
        torch.bincount(number, minlength=batch.num_graphs).to(share.dtype)
        for number in (batch.node_graph, batch.edge_graph)
    )
    of_graphs = torch.stack(
        [
            torch.logit(share.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE)),
            state.log_sigma,
            torch.full_like(share, progress),
            0.5 * torch.log((2.0 * edges / nodes).clamp_max(_MOST_DEGREE)) - 1.5,
            0.2 * torch.log(nodes.clamp_max(_MOST_NODES)) - 1.0,
            torch.full_like(share, float(batch.k)).log(),
        ],
        dim=1,
    )
    return torch.cat([of_graphs, batch.graph_mean(of_edges), batch.about], dim=1)


def _arc_features(block: Block, about: Tensor, batch: GraphBatch) -> Tensor:
    """Invariants (2, e, k, F) of the arcs of a block."""
    # Not `abs`, which is slow for complex numbers.
    parts = torch.view_as_real(block.cavity)
    length, sharp = (torch.linalg.vector_norm(parts[..., q, :], dim=-1) for q in (0, _SHARP))
    log_degree = 0.5 * torch.log(batch.degree[block.ends].clamp_min(1.0)) - 1.5
    of_edges = torch.cat(
        [
            about[block.graph, :3],
            torch.log(batch.weight[block.edges])[:, None],
            batch.cycles[block.edges],
        ],
        dim=1,
    )
    own = [
        length,
        length.flip(0),
        sharp,
        log_degree.flip(0).unsqueeze(-1).expand_as(length),
        log_degree.unsqueeze(-1).expand_as(length),
        torch.log(block.fit).clamp(-_MOST_FIT, _MOST_FIT).expand_as(length),
        block.odds.expand_as(length),
    ]
    shared = of_edges[:, None, :].expand(*length.shape, -1)
    return torch.cat([torch.stack(own, dim=-1), shared], dim=-1)
