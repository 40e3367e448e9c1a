import pytest
import torch
from pytorch_lightning import Callback

from gnnsync.errors import ParameterError
from gnnsync.learn import GNNSync, Run
from gnnsync.learn.callbacks import ReplicaGradientClipping
from gnnsync.learn.callbacks.gradient_clipping import replica_norms
from gnnsync.learn.encoders import DIMPA, PyG


class Norms(Callback):
    """Gradient norm (R,) of every optimizer step."""

    def __init__(self):
        self.found = []

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        gradients = [(n, p.grad) for n, p in pl_module.named_parameters() if p.grad is not None]
        self.found.append(replica_norms(gradients, pl_module.replicas))


@pytest.mark.parametrize("encoder", [DIMPA, PyG])
def test_each_replica_is_clipped_by_its_own_norm(encoder, make_graph, quick):
    graphs = [make_graph(seed, n=14) for seed in (0, 1)]

    def norms(*clipping):
        found = Norms()
        method = GNNSync(encoder=encoder, training=quick(max_steps=6))
        method.fit(graphs, seeds=[1, 2, 3, 4], trials=2, run=Run(callbacks=[*clipping, found]))
        return torch.stack(found.found)

    free = norms()
    assert free.shape == (6, 4)
    highest = free.max(dim=0).values
    limit = float(highest.sort().values[1:3].mean())  # two of the four are above at some step
    clipped = norms(ReplicaGradientClipping(limit))
    torch.testing.assert_close(clipped[0], free[0].clamp(max=limit))
    assert (clipped <= limit * (1 + 1e-9)).all()
    # The two replicas that were never clipped train as if nothing were.
    untouched = (free <= limit).all(dim=0)
    assert untouched.sum() == 2
    torch.testing.assert_close(clipped[:, untouched], free[:, untouched])


def test_the_limit_is_checked():
    with pytest.raises(ParameterError, match="max_norm = 0"):
        ReplicaGradientClipping(0)
