import pickle

import pytest
import torch
from omegaconf import OmegaConf
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import ModelCheckpoint

from gnnsync.data.stream import Cell, GraphLaw
from gnnsync.data.stream.batches import NumberedBatches
from gnnsync.data.stream.datamodule import StreamDataModule

LAW = GraphLaw(nodes=(20, 40), degree=(4, 12), max_edges=1000)
CELLS = [
    Cell("a", "erdos_renyi", 30, 8, 0.2, 0.1, networks=2),
    Cell("b", "erdos_renyi", 30, 12, 0.1, 0.1, k=2, networks=2),
]


def key(batch):
    return round(float(batch.residual.double().abs().sum()), 6)


class Recorder(LightningModule):
    """Keeps the sum of every training batch's residuals, and the names of cells."""

    def __init__(self):
        super().__init__()
        self.seen, self.names = [], []
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def training_step(self, batch, batch_idx):
        self.seen.append(key(batch))
        return (self.weight * batch.degree.mean()).sum()

    def validation_step(self, batch, batch_idx):
        self.names.append(batch[1])

    test_step = validation_step

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3)


def data(**options):
    options = {"batch_size": 2, "batches_per_epoch": 4, "anchored": 0.0, **options}
    return StreamDataModule(LAW, seed=3, validation=CELLS, test=CELLS[:1], **options)


def trainer(folder, **options):
    return Trainer(
        default_root_dir=folder,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        log_every_n_steps=1,
        **options,
    )


@pytest.fixture(scope="module")
def expected():
    batches = NumberedBatches(LAW, 3, 2)
    return [key(batches.batch(number)) for number in range(12)]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_epochs_continue_the_stream(tmp_path, expected, num_workers):
    module, stream = Recorder(), data(num_workers=num_workers)
    trainer(tmp_path, max_epochs=3, enable_checkpointing=False).fit(module, datamodule=stream)
    assert module.seen == expected
    assert stream.position == 12
    assert module.names == [["a", "a"], ["b", "b"]] * 3


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("stop", [3, 4, 6, 8])
def test_a_resumed_training_continues_with_the_next_batch(tmp_path, expected, stop, num_workers):
    every_step = ModelCheckpoint(tmp_path, filename="{step}", every_n_train_steps=1, save_top_k=-1)
    first = Recorder()
    run = trainer(tmp_path, max_steps=9, max_epochs=-1, callbacks=[every_step])
    run.fit(first, datamodule=data(num_workers=num_workers))
    assert first.seen == expected[:9]
    second = Recorder()
    again = trainer(tmp_path, max_steps=12, max_epochs=-1, enable_checkpointing=False)
    again.fit(
        second,
        datamodule=data(num_workers=num_workers),
        ckpt_path=str(tmp_path / f"step={stop}.ckpt"),
        weights_only=False,
    )
    assert second.seen == expected[stop:]


def test_a_checkpoint_of_the_end_of_an_epoch_resumes_as_well(tmp_path, expected):
    at_end = ModelCheckpoint(tmp_path, filename="{epoch}", every_n_epochs=1, save_top_k=-1)
    run = trainer(tmp_path, max_epochs=2, callbacks=[at_end])
    run.fit(Recorder(), datamodule=data())
    second = Recorder()
    again = trainer(tmp_path, max_epochs=3, enable_checkpointing=False)
    path = str(tmp_path / "epoch=0.ckpt")
    again.fit(second, datamodule=data(), ckpt_path=path, weights_only=False)
    assert second.seen == expected[4:]


@pytest.mark.parametrize("limit", [3, 0.5])
def test_a_limit_of_the_trainer_shortens_epochs(tmp_path, expected, limit):
    module = Recorder()
    run = trainer(tmp_path, max_epochs=2, limit_train_batches=limit, enable_checkpointing=False)
    run.fit(module, datamodule=data())
    assert module.seen == expected[: 2 * (3 if limit == 3 else 2)]


def test_the_test_set_has_its_own_cells(tmp_path):
    module = Recorder()
    trainer(tmp_path).test(module, datamodule=data(), verbose=False)
    assert module.names == [["a", "a"]]


def test_a_bound_on_the_batch_bounds_every_graph():
    module = data(batch_size=4, max_edges_per_batch=800)
    assert module.law.max_edges == 200
    for batch in module.train_dataloader():
        assert batch.ends.shape[1] * batch.k <= 880  # links that join components come on top
    assert data(max_edges_per_batch=10**9).law == LAW


def test_a_law_from_a_config_can_be_sent_to_workers():
    config = OmegaConf.create({"nodes": [20, 40], "groups": {1: 1.0}, "families": {"grid": 1}})
    law = GraphLaw(**config)
    assert law == pickle.loads(pickle.dumps(law))
    assert (law.nodes, type(law.families)) == ((20, 40), dict)
