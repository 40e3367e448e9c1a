from pytorch_lightning.callbacks import TQDMProgressBar

from gnnsync.learn import GNNSync, Run
from gnnsync.learn.callbacks import JobCheckpoint, ReplicaCallback, ReplicaStopping, StepProgress


def kinds(run, *callbacks):
    return [type(c) for c in run.extended(callbacks)]


def test_a_run_adds_a_bar_only_if_there_is_none(tmp_path):
    assert kinds(Run()) == [StepProgress]
    own = TQDMProgressBar()
    assert kinds(Run(), own, ReplicaStopping()) == [TQDMProgressBar, ReplicaStopping]
    assert kinds(Run(callbacks=[own]), StepProgress()) == [TQDMProgressBar]
    assert kinds(Run(tmp_path), own) == [TQDMProgressBar, JobCheckpoint]


def test_an_explicit_choice_replaces_every_bar():
    (bar,) = Run(callbacks=[TQDMProgressBar()], progress_bar=True).extended([StepProgress(False)])
    assert isinstance(bar, StepProgress)
    assert bar.bar is True


class Count(ReplicaCallback):
    def __init__(self):
        self.steps = 0

    def on_inner_step_end(self, pl_module, result):
        self.steps += 1


def test_callbacks_of_a_run_are_used_themselves_and_those_of_a_method_copied(make_graph, quick):
    training, methods, runs = quick(max_steps=4), Count(), Count()
    method = GNNSync(trainer=training.trainer(), callbacks=[methods])
    method.fit([make_graph(0)], run=Run(callbacks=[runs]))
    assert (methods.steps, runs.steps) == (0, 4)
