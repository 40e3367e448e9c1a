"""Data sets as LightningDataModules: with a Trainer of one's own, and loaded only when used."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import pytorch_lightning
import torch

from gnnsync.data import SyntheticDataModule
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.priors import GammaAngles
from gnnsync.learn import GNNSync, Training

OLD_NAMES = [
    "gnnsync.data.SyncDataModule",
    "gnnsync.data.base.SyncDataModule",
    "gnnsync.data.synthetic.SyntheticDataModule",
    "gnnsync.data.localization.LocalizationDataModule",
    "gnnsync.data.file_module.FileDataModule",
]


@pytest.mark.parametrize(
    "module", ["gnnsync", "gnnsync.data", "gnnsync.methods", "gnnsync.results"]
)
def test_neither_torch_nor_lightning_is_imported_with(module):
    heavy = "{'torch', 'pytorch_lightning', 'lightning'}"
    code = f"import sys, {module}, gnnsync.data.localization; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.parametrize("name", OLD_NAMES)
def test_old_names_are_found(name):
    module, _, kind = name.rpartition(".")
    found = getattr(__import__(module, fromlist=[kind]), kind)
    assert issubclass(found, pytorch_lightning.LightningDataModule)
    with pytest.raises(AttributeError, match="has no attribute 'Other'"):
        _ = __import__(module, fromlist=["Other"]).Other


def test_a_plain_trainer_fits_validates_tests_and_predicts():
    """Lightning as its users know it, without any callback of ours."""
    data = SyntheticDataModule(erdos_renyi, GammaAngles(), n=30, p=0.4, eta=0.1, seeds=[1, 2])
    method = GNNSync(training=Training(steps_per_epoch=10, accelerator="cpu"))
    data.prepare = partial(method.prepare, seeds=[5, 6])
    module = method.build(data.batch)
    trainer = pytorch_lightning.Trainer(
        max_steps=25,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, datamodule=data)
    assert trainer.global_step == 25
    assert {"loss/train", "loss/evaluation", "loss/validation"} <= set(trainer.callback_metrics)
    (tested,) = trainer.test(module, datamodule=data, verbose=False)
    (validated,) = trainer.validate(module, datamodule=data, verbose=False)
    assert tested["loss/test"] == pytest.approx(validated["loss/validation"])
    (angles,) = trainer.predict(module, datamodule=data)
    assert angles.shape == (2, 30, 1)
    assert angles.dtype == torch.float64
    from gnnsync.metrics import angular_mse

    errors = [angular_mse(a.numpy(), g.angles) for a, g in zip(angles, data.graphs, strict=True)]
    assert tested["mse/test"] == pytest.approx(np.mean(errors), abs=1e-6)
