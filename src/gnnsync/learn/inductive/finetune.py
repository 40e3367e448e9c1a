"""Fine-tuning of the inductive network on the graph that it solves, without its truth."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from gnnsync.graph import MeasurementGraph
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.inductive.batch import GraphBatch
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.losses import CycleLoss, UpsetLoss
from gnnsync.learn.single_thread import single_torch_thread
from gnnsync.work import advance, time_is_up

# The losses of the paper, by name.
LOSSES: dict[str, type[nn.Module]] = {"upset": UpsetLoss, "cycle": CycleLoss}


@single_torch_thread()
def finetuned(
    network: UnrolledPropagation,
    graph: MeasurementGraph,
    batch: GraphBatch,
    *,
    loss: str = "upset",
    steps: int = 30,
    lr: float = 1e-4,
    sweeps: int | None = None,
) -> tuple[UnrolledPropagation, list[float]]:
    """A copy of the network, trained by Adam on one graph, and the losses before every step.

    The loss is that of the angles after the last sweep, as in the training of GNNSync: how badly
    they explain the offsets. The state of least loss is kept, the first one included, so that the
    loss never ends larger than it was. Memory is that of all sweeps at once, for the gradient. On
    the CPU it is computed in one thread: the result does not depend on their number.

    Args:
        network: stays as it is.
        graph: the measurements.
        batch: the same graph, prepared.
        loss: a name in `LOSSES`.
        steps: of Adam.
        lr: learning rate.
        sweeps: of the network; by default its own number.
    """
    tuned = copy.deepcopy(network)
    value_of = LOSSES[loss]()
    data = ReplicaBatch([graph], k=batch.k).to(batch.residual.device)
    optimizer = torch.optim.Adam(tuned.parameters(), lr=lr)
    best = copy.deepcopy(tuned.state_dict())
    losses: list[float] = []
    for step in range(steps + 1):
        advance(step / steps)
        if losses and time_is_up():
            break
        with torch.set_grad_enabled(step < steps):
            value: Tensor = value_of(estimated_angles(tuned, batch, sweeps)[None], data)[0]
        if not torch.isfinite(value):
            break
        if not losses or value.item() < min(losses):
            best = copy.deepcopy(tuned.state_dict())
        losses.append(value.item())
        if step < steps:
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    tuned.load_state_dict(best)
    return tuned, losses


def estimated_angles(
    network: UnrolledPropagation, batch: GraphBatch, sweeps: int | None = None
) -> Tensor:
    """Posterior means (n, k) of the angles, differentiable, in the type of the network."""
    mean = network.mean_directions(network.final(batch, sweeps))
    return batch.start.to(mean.real.dtype) + torch.angle(mean)
