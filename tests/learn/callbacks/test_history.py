import torch
from torch import nn

from gnnsync.learn.callbacks import History, InnerStep


class Device(nn.Module):
    """A module on another device than the losses of a checkpoint; here one of another type."""

    device = torch.float64
    replicas = 2


def test_stored_losses_go_to_the_device_of_the_module():
    stored = {"train": torch.ones(3, 2), "evaluation": torch.zeros(3, 2)}
    history, module = History(), Device()
    history.setup(None, module, "fit")
    history.load_state_dict(stored)
    history.on_fit_start(None, module)
    new = torch.ones(2, dtype=torch.float64)
    history.on_inner_step_end(module, InnerStep(4, new, None))
    for losses in (history.train, history.evaluation):
        assert len({value.dtype for value in losses}) == 1
    assert {name: tuple(v.shape) for name, v in history.losses().items()} == {
        "train": (4, 2),
        "evaluation": (4, 2),
    }


def test_a_second_fit_starts_empty():
    history, module = History(), Device()
    for _ in range(2):
        history.setup(None, module, "fit")
        history.on_inner_step_end(module, InnerStep(1, torch.ones(2), torch.ones(2)))
    assert len(history.train) == len(history.evaluation) == 1
