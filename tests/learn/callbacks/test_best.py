import pytest
import pytorch_lightning
import torch

from gnnsync.errors import GnnsyncError
from gnnsync.learn import gnnsync_paper
from gnnsync.learn.callbacks import BestState, LossCurve, ReplicaCallback, ReplicaStopping
from gnnsync.learn.training.loading import ReplicaDataModule


class States(ReplicaCallback):
    """Parameters and evaluation losses of every step."""

    def __init__(self):
        self.found = []

    def on_inner_step_end(self, pl_module, result):
        state = {name: p.detach().clone() for name, p in pl_module.named_parameters()}
        self.found.append((result.evaluation, state))


@pytest.fixture
def fit(make_graph, quick, tmp_path):
    """Train with a plain Trainer; the learning rate is too large to end at the best state."""
    method = gnnsync_paper(
        spread=0.25,
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=5.0),
        training=quick(precision=32),
    )
    graphs = [make_graph(0, n=16), make_graph(1, n=16)]

    def fit(*callbacks, max_steps=30):
        batch = method.prepare(graphs, seeds=[1, 2])
        module = method.build(batch)
        trainer = pytorch_lightning.Trainer(
            max_steps=max_steps,
            accelerator="cpu",
            callbacks=list(callbacks),
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            limit_val_batches=0,
            default_root_dir=tmp_path,
        )
        trainer.fit(module, datamodule=ReplicaDataModule(batch))
        return trainer, module

    return fit


def assert_best(module, states):
    losses = torch.stack([evaluation for evaluation, _ in states])
    best = losses.argmin(dim=0).tolist()
    assert len(losses) - 1 not in best
    for name, parameter in module.named_parameters():
        for replica, step in enumerate(best):
            assert torch.equal(parameter[replica], states[step][1][name][replica]), name


@pytest.mark.parametrize("stopping", [[], [ReplicaStopping(None)]], ids=["alone", "stopping"])
def test_a_plain_trainer_ends_with_the_best_state_of_every_replica(fit, stopping):
    states = States()
    _, module = fit(*stopping, BestState(), states)
    assert_best(module, states.found)


def test_an_instance_can_be_used_again(fit):
    best = BestState()
    fit(best)
    states = States()
    _, module = fit(best, states)
    assert_best(module, states.found)


def test_a_checkpoint_has_the_best_state_and_its_losses(fit, tmp_path):
    states = States()
    trainer, _ = fit(BestState(), states, max_steps=20)
    trainer.save_checkpoint(tmp_path / "a.ckpt")
    state = torch.load(tmp_path / "a.ckpt", weights_only=True)["callbacks"]["BestState"]
    stored, best = trainer.callbacks[0].parameters, BestState()
    best.setup(trainer, trainer.lightning_module, "fit")
    best.load_state_dict(state)
    for name, value in stored.items():
        assert torch.equal(best.parameters[name], value)
    lowest = torch.stack([evaluation for evaluation, _ in states.found]).amin(dim=0)
    assert best.state_dict()["lowest"]["best_loss"] == lowest.tolist()


def test_the_order_of_stopping_and_best_state_is_checked(fit):
    with pytest.raises(GnnsyncError, match="ReplicaStopping must come before BestState"):
        fit(BestState(), ReplicaStopping())


def test_a_missing_callback_is_named(fit):
    with pytest.raises(GnnsyncError, match="the Trainer has no callback History: add it"):
        fit(LossCurve())
