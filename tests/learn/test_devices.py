"""Every learned part takes a training step with all tensors on one device, a GPU if there is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.experiments.config.building import build
from gnnsync.experiments.config.composing import compose_config, hydra_configs
from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.training.loss import InductiveLoss
from gnnsync.methods.robust.unrolled.start import prepare
from tests.one_device import OneDevice

CONF = Path(__file__).resolve().parents[2] / "conf"
DEVICES = ["meta"] + ["cuda"] * torch.cuda.is_available()
on_every_device = pytest.mark.parametrize("device", DEVICES)


def choices(group: str) -> list[list[str]]:
    names = sorted(path.stem for path in (CONF / group).glob("*.yaml"))
    return [[f"{group}={name}"] for name in names]


METHODS = [["method=gnnsync_plus"]] + [
    [f"protocol={name}"] for name in ("paper", "released", "repaired")
]
PARTS = [
    *choices("model/encoder"),
    *choices("model/steps"),
    *choices("loss"),
    ["model/features=random"],
]
CASES = [(overrides, k) for overrides in METHODS for k in (1, 2)] + [(part, 2) for part in PARTS]


def network(k: int, seed: int = 0, n: int = 24) -> MeasurementGraph:
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 6.28, (n, k))
    return observe(erdos_renyi(n, 0.4, seed), angles, 0.2, rng=rng, inlier_noise=0.1)


@on_every_device
@pytest.mark.parametrize(("overrides", "k"), CASES, ids=lambda of: of if of in (1, 2) else of[0])
def test_a_training_step_stays_on_its_device(overrides, k, device):
    with hydra_configs():
        method = build(compose_config([*overrides, f"data.k={k}"]))[2]
    batch = method.prepare([network(k), network(k, 1)], k, seeds=range(4), trials=2)
    module = method.build(batch)
    module.to(device)
    batch.to(device)
    trained = [p for p in module.parameters() if p.requires_grad]
    # A fused optimizer needs data.
    optimizer = torch.optim.Adam(trained) if device == "meta" else module.make_optimizer(trained)
    # The first step brings operators of the graphs and masks of dropout to the device.
    for strict in (False, True):
        with OneDevice(device, strict=strict):
            loss = module.loss(module(batch, final=False), batch)
            loss.backward(torch.ones(4, dtype=batch.dtype, device=device))
            optimizer.step()
            module.steps.project()
            module(batch, final=True)


@on_every_device
@pytest.mark.parametrize("k", [1, 2])
def test_a_training_step_of_the_inductive_network_stays_on_its_device(k, device):
    rng = np.random.default_rng(0)
    batch = collate([prepare(network(k, seed), k, rng=rng) for seed in (0, 1)]).to(device)
    model = UnrolledPropagation(layers=3).to(device)
    loss = InductiveLoss().to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    with OneDevice(device):
        loss(model(batch), batch, model)["loss"].mean().backward()
        optimizer.step()


@on_every_device
def test_a_tensor_elsewhere_is_refused(device):
    here, there = torch.ones(3, device=device), torch.ones(3)
    with OneDevice(device):
        assert (here + 1.0).device.type == device
        with pytest.raises(AssertionError, match="is made"):
            torch.ones(3)
        with pytest.raises(AssertionError, match=r"a tensor \(3,\) on cpu is used"):
            there.sum()
