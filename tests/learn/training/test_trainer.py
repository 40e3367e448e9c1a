import inspect
import logging
from functools import partial

import pytest
import torch
import yaml
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO

from gnnsync.errors import ParameterError
from gnnsync.experiments.paths import conf_dir
from gnnsync.learn import GNNSync, Training
from gnnsync.learn.callbacks import History, JobCheckpoint, ReplicaStopping, StepProgress
from gnnsync.learn.callbacks.base import callbacks_of
from gnnsync.learn.training.checkpoint_io import AtomicCheckpointIO
from gnnsync.learn.training.trainer import as_list, check_trainer, make_trainer, trainer_dtype
from gnnsync.methods import RunContext


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_steps": 0}, "trainer.max_steps = 0"),
        ({}, "trainer.max_steps = -1"),
        ({"max_steps": 5, "precision": "16-mixed"}, "trainer.precision = '16-mixed'"),
        (
            {"max_steps": 5, "accelerator": "gpuu"},
            "trainer.accelerator = 'gpuu': must be one of auto, gpu, ",
        ),
        ({"max_steps": 5, "gradient_clip_val": 1.0}, "callbacks.gradient_clipping.max_norm"),
        ({"max_steps": 5, "accumulate_grad_batches": 2}, "a batch holds whole graphs"),
        ({"max_steps": 5, "callbacks": []}, "must be left out: callbacks are a group"),
        ({"max_steps": 5, "logger": True}, "trainer.logger = True: must be left out: loggers are"),
        ({"max_steps": 5, "max_stepz": 2}, "trainer.max_stepz = 2: must be an argument"),
    ],
)
def test_arguments_that_cannot_work_are_refused(options, message):
    with pytest.raises(ParameterError, match=message.replace(".", r"\.")):
        check_trainer(partial(Trainer, **options))


def test_a_budget_may_be_epochs_or_time(make_graph, quick):
    for budget in ({"max_epochs": 3}, {"max_time": "00:00:00:01", "max_epochs": -1}):
        check_trainer(partial(Trainer, **budget))
    options = {"accelerator": "cpu", "enable_model_summary": False, "limit_val_batches": 0}
    method = GNNSync(trainer=partial(Trainer, max_epochs=3, **options), inner_steps=7)
    solution = method(make_graph(0))
    assert solution.iterations == 21
    assert solution.diagnostics["best_step"] in {1, 10, 20, 21}  # the last step is evaluated


def test_the_smaller_of_two_limits_is_the_budget(make_graph):
    options = {"accelerator": "cpu", "enable_model_summary": False, "limit_val_batches": 0}
    for limits, steps in (((12, 3), 12), ((100, 3), 21), ((-1, 2), 14)):
        factory = partial(Trainer, max_steps=limits[0], max_epochs=limits[1], **options)
        solution = GNNSync(trainer=factory, inner_steps=7, eval_every=50)(make_graph(0))
        assert solution.iterations == steps
        assert solution.diagnostics["best_step"] in {1, steps}  # the last step is evaluated


def test_cosine_annealing_needs_a_number_of_steps():
    cosine = partial(torch.optim.lr_scheduler.CosineAnnealingLR, T_max=-1)
    with pytest.raises(ParameterError, match=r"scheduler.T_max = -1: must be .*trainer.max_steps"):
        GNNSync(trainer=partial(Trainer, max_epochs=3), scheduler=cosine)


def test_a_factory_need_not_be_a_partial(make_graph):
    def factory(**options):
        return Trainer(max_steps=5, accelerator="cpu", enable_model_summary=False, **options)

    assert GNNSync(trainer=factory)(make_graph(0)).iterations == 5


def test_what_the_factory_sets_is_honoured(tmp_path):
    factory = partial(
        Training(accelerator="cpu").trainer(),
        default_root_dir=tmp_path / "mine",
        enable_checkpointing=True,
        enable_progress_bar=True,
    )
    trainer = make_trainer(factory, [], RunContext(tmp_path))
    assert trainer.default_root_dir == str(tmp_path / "mine")
    assert len(trainer.checkpoint_callbacks) == 1
    assert trainer.progress_bar_callback is not None
    off = partial(factory, enable_checkpointing=False, enable_progress_bar=False)
    callbacks = [StepProgress(), JobCheckpoint()]
    trainer = make_trainer(off, callbacks, RunContext(tmp_path))
    assert not trainer.checkpoint_callbacks
    assert trainer.progress_bar_callback is None


def test_the_log_level_of_lightning_is_left_as_it_was(make_graph, quick):
    logger = logging.getLogger("pytorch_lightning")
    level = logger.level
    GNNSync(training=quick(max_steps=2))(make_graph(0))
    assert logger.level == level


def test_the_precision_is_that_of_the_trainer():
    assert trainer_dtype(Training(precision=64).trainer()) == torch.float64
    assert Training(precision=64).dtype == torch.float64
    assert trainer_dtype(Trainer) == torch.float32


def test_bookkeeping_comes_first_and_is_never_missing(tmp_path):
    factory = Training(accelerator="cpu").trainer()
    stopping = ReplicaStopping(7)
    trainer = make_trainer(factory, [StepProgress(), stopping], RunContext(tmp_path))
    assert callbacks_of(trainer)[0] is stopping
    assert trainer.default_root_dir == str(tmp_path)
    trainer = make_trainer(factory, [], RunContext())
    kinds = [type(c) for c in callbacks_of(trainer)]
    assert kinds == [ReplicaStopping, History]
    assert callbacks_of(trainer)[0].patience is None
    assert trainer.loggers == []


def test_every_checkpoint_is_atomic_unless_another_plugin_is_chosen(tmp_path):
    factory = Training(accelerator="cpu").trainer()
    trainer = make_trainer(factory, [ModelCheckpoint()], RunContext(tmp_path))
    assert isinstance(trainer.strategy.checkpoint_io, AtomicCheckpointIO)
    own = TorchCheckpointIO()
    trainer = make_trainer(partial(factory, plugins=own), [JobCheckpoint()], RunContext(tmp_path))
    assert trainer.strategy.checkpoint_io is own


def test_callbacks_by_name_or_in_a_list():
    one = StepProgress()
    assert as_list({"a": one, "b": None, "c": {"patience": 3}}) == as_list([one]) == [one]
    with pytest.raises(ParameterError, match="one progress bar"):
        as_list([one, StepProgress()])


def test_the_config_lists_the_arguments_of_the_trainer_with_lightnings_defaults():
    given = yaml.safe_load((conf_dir() / "trainer" / "default.yaml").read_text())
    ours = ("max_steps", "accelerator", "devices", "precision", "limit_val_batches")
    ours += ("log_every_n_steps", "enable_model_summary", "_target_", "_partial_")
    parameters = inspect.signature(Trainer).parameters
    defaults = {name: parameters[name].default for name in given if name not in ours}
    assert {name: given[name] for name in defaults} == defaults
    # Groups of their own, and what newer versions of Lightning have added.
    missing = set(parameters) - set(given)
    assert missing <= {"callbacks", "logger", "enable_autolog_hparams", "model_registry"}


def test_an_accelerator_that_is_not_there_is_one_clear_line():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ParameterError, match=r"trainer\.accelerator = 'cuda': must be usable here"):
        make_trainer(partial(Trainer, accelerator="cuda", max_steps=1), [], RunContext())


def test_the_table_of_a_profiler_is_shown(make_multigraph, caplog):
    method = GNNSync(training=Training(max_steps=2, options={"profiler": "simple"}))
    with caplog.at_level("INFO"):
        method(make_multigraph(0))
    assert "Profiler Report" in caplog.text
