import numpy as np
import pytest
from pytorch_lightning.loggers import CSVLogger

from gnnsync.learn import GNNSync
from gnnsync.learn.callbacks import JobCheckpoint, LossCurve
from gnnsync.methods import RunContext
from tests.learn.conftest import Breaking
from tests.learn.test_training import StopAt


class Points(CSVLogger):
    """Keeps what it is sent."""

    def __init__(self, folder):
        super().__init__(str(folder), name=None, version="log")
        self.points = []

    def log_metrics(self, metrics, step=None):
        if "loss/train" in metrics:
            self.points.append((step, metrics))


def curve(method, graphs, folder, **context):
    logger = Points(folder)
    found = method.solve_many(graphs, seeds=[1, 2], context=RunContext(folder, [logger], **context))
    return logger.points, found


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({}, [1, 10, 20, 30]),
        ({"every": 7}, [1, 7, 14, 21, 28]),
        ({"every": 1, "max_points": 2}, [1, 15, 30]),
    ],
)
def test_true_steps_and_means_over_replicas(options, steps, make_graph, quick, tmp_path):
    graphs = [make_graph(0, n=16), make_graph(1, n=16)]
    training = quick(steps_per_epoch=8)
    method = GNNSync(
        trainer=training.trainer(),
        callbacks=[*training.callbacks(), LossCurve(**options)],
        inner_steps=8,
        eval_every=1,
    )
    points, found = curve(method, graphs, tmp_path)
    assert [step for step, _ in points] == steps
    for step, values in points:
        for name in ("train", "evaluation"):
            assert values[f"loss/{name}"] == pytest.approx(found.history[name][step - 1].mean())


def test_a_resumed_run_goes_on_where_it_stopped(make_graph, quick, tmp_path):
    graphs = [make_graph(0, n=16), make_graph(1, n=16)]
    training, extra = quick(max_steps=45), [LossCurve(), JobCheckpoint(10)]

    def method(*more):
        callbacks = [*training.callbacks(), *extra, *more]
        return GNNSync(trainer=training.trainer(), callbacks=callbacks, inner_steps=10)

    with pytest.raises(RuntimeError, match="cut"):
        curve(method(StopAt(RuntimeError("cut"), 30)), graphs, tmp_path)
    points, _ = curve(method(), graphs, tmp_path, resume=True)
    assert [step for step, _ in points] in ([30, 40], [40])


def test_a_diverged_replica_is_left_out_of_the_mean(make_graph, quick, tmp_path):
    graphs, training = [make_graph(0, n=16), make_graph(1, n=16)], quick()
    callbacks = [*training.callbacks(), LossCurve()]
    loss = Breaking(1, 18)
    method = GNNSync(loss=loss, trainer=training.trainer(), callbacks=callbacks, inner_steps=10)
    points, found = curve(method, graphs, tmp_path)
    assert np.isnan(found.history["train"][-1][1])
    for step, values in points:
        finite = found.history["train"][step - 1]
        assert values["loss/train"] == pytest.approx(finite[np.isfinite(finite)].mean())
