from functools import partial

import numpy as np
import pytest
import torch

from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.errors import GraphError, ParameterError
from gnnsync.learn import GNNSync
from gnnsync.learn.encoders import DIMPA
from gnnsync.learn.features import DegreeFeatures, MethodFeatures, RandomFeatures
from gnnsync.learn.losses import CycleLoss, LinearLoss
from gnnsync.learn.steps import NoSteps, ProjectedGradient
from gnnsync.methods import SpectralRN
from gnnsync.metrics import angular_mse
from gnnsync.work import Work, limited, watched


def exact_graph(seed=0, n=40, p=0.3, eta=0.0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, 1))
    return observe(erdos_renyi(n, p, seed), angles, eta, rng=rng)


def test_is_a_method(quick):
    graph = exact_graph(eta=0.3)
    solution = GNNSync(training=quick(max_steps=100, precision=32))(graph, seed=3)
    assert solution.angles.shape == (40, 1)
    assert solution.angles.min() >= 0
    assert solution.angles.max() < 2 * np.pi
    assert solution.iterations == 100
    assert solution.stop_reason == "finished"
    assert solution.diagnostics["loss"] > 0
    assert angular_mse(solution.angles, graph.angles) < 1.0


def test_training_lowers_the_loss(quick):
    """Without noise and without steps, where the network alone has to do the work.

    Some starts saturate the sigmoid and hardly learn, hence the best of several trials.
    """
    method = GNNSync(
        encoder=partial(DIMPA, dropout=0.0),
        steps=NoSteps,
        optimizer=partial(torch.optim.Adam, lr=0.02),
        training=quick(max_steps=120),
    )
    losses = method.fit([exact_graph(3)], seeds=range(6), trials=6).history["evaluation"]
    assert losses[-1].min() < 0.4 * losses[0].min()


def test_the_same_seed_gives_the_same_angles(quick):
    graph = exact_graph(eta=0.3)
    method = GNNSync(training=quick())
    once, again, other = (method(graph, seed=seed).angles for seed in (3, 3, 4))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("loss", [CycleLoss(), LinearLoss(0.5, "frobenius")])
@pytest.mark.parametrize("features", [RandomFeatures(3), DegreeFeatures()])
def test_parts_combine(k, loss, features, quick):
    fitted = GNNSync(features=features, loss=loss, training=quick(max_steps=3)).fit(
        [exact_graph(0), exact_graph(1)], k, seeds=[1, 2, 3, 4], trials=2
    )
    assert len(fitted.solutions) == 4
    assert all(s.angles.shape == (40, k) for s in fitted.solutions)
    assert fitted.history["train"].shape == (3, 4)
    assert torch.isfinite(fitted.history["train"]).all()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"encoder": partial(DIMPA, width=0)}, "width"),
        ({"encoder": partial(DIMPA, tau=0.0)}, "tau"),
        ({"encoder": partial(DIMPA, hops=-1)}, "hops"),
        ({"encoder": partial(DIMPA, dropout=1.0)}, "dropout"),
        ({"steps": partial(ProjectedGradient, count=0)}, "count"),
        ({"optimizer": partial(torch.optim.SGD, lr=-1.0)}, "learning rate"),
    ],
)
def test_bad_parameters_are_refused_at_construction(options, name):
    with pytest.raises(ValueError, match=name):
        GNNSync(**options)


def test_bad_calls_are_refused(quick):
    method, graph = GNNSync(training=quick()), exact_graph()
    with pytest.raises(ParameterError, match="k = 0"):
        method(graph, 0)
    with pytest.raises(ParameterError, match=r"seeds = .* 2 numbers"):
        method.fit([graph], seeds=[1], trials=2)
    with pytest.raises(ParameterError, match="seeds"):
        method.fit([graph], seeds=[-1])
    with pytest.raises(GraphError, match="must agree"):
        method.fit([graph, exact_graph(n=30)], seeds=[1, 2])


def test_a_graph_without_a_triangle_is_refused_by_the_cycle_loss(quick):
    pairs = np.stack([np.arange(9), np.arange(1, 10)])
    path = observe(pairs, np.zeros((10, 1)), 0.0, rng=np.random.default_rng(0))
    with pytest.raises(GraphError, match="no triangle"):
        GNNSync(loss=CycleLoss(), training=quick())(path)


class Broken(DIMPA):
    """An encoder that never gives a number."""

    def forward(self, x, batch):
        return super().forward(x, batch) * torch.nan

    def scores(self, x, vector, batch):
        return super().scores(x, vector, batch) * torch.nan


@pytest.mark.parametrize("k", [1, 2])
def test_a_network_without_finite_angles_returns_its_input_or_zeros(k, quick, caplog):
    graph, training = exact_graph(), quick(max_steps=3)
    solution = GNNSync(encoder=Broken, separation=0, training=training)(graph, k)
    assert solution.stop_reason == "diverged"
    assert "its features are returned" in caplog.text
    expected = MethodFeatures(SpectralRN())(graph, k, 0)
    np.testing.assert_allclose(np.exp(1j * solution.angles), np.exp(1j * expected), atol=1e-6)
    blind = GNNSync(encoder=Broken, features=RandomFeatures(1), training=training)(graph, k)
    assert not blind.angles.any()
    assert blind.angles.shape == (40, k)


def test_an_instance_can_be_used_again(quick):
    method = GNNSync(training=quick())
    first, second = method(exact_graph(0), seed=1), method(exact_graph(1), seed=1)
    again = method(exact_graph(0), seed=1)
    np.testing.assert_array_equal(first.angles, again.angles)
    assert not np.array_equal(first.angles, second.angles)


def test_a_module_is_built_from_graphs_or_from_their_batch(quick):
    method, graphs = GNNSync(training=quick()), [exact_graph(0), exact_graph(1)]
    options = {"seeds": [1, 2, 3, 4], "trials": 2}
    one = method.build(graphs, 2, **options).state_dict()
    other = method.build(method.prepare(graphs, 2, **options)).state_dict()
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_time_limit_ends_the_training_within_a_macro_step(quick):
    with limited(1e-9):
        solution = GNNSync(training=quick(max_steps=100))(exact_graph(), seed=3)
    assert solution.iterations == 1
    assert solution.stop_reason == "time limit of 1e-09 s: best of 1 steps"
    assert not solution.converged


def test_progress_follows_the_steps(quick):
    seen = []
    with watched(Work(on_change=lambda work: seen.append(work.fraction))):
        GNNSync(training=quick(max_steps=50))(exact_graph(), seed=3)
    assert len({round(fraction, 3) for fraction in seen}) > 40
    assert seen[-1] == 1.0
