import numpy as np
import pytest
from hydra import compose, initialize_config_dir

from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.experiments.config.building import build
from gnnsync.experiments.paths import conf_dir
from gnnsync.learn import Training, gnnsync_paper, gnnsync_plus
from gnnsync.learn.features import MethodFeatures
from gnnsync.learn.steps import BeliefSteps
from gnnsync.methods import SpectralRN
from gnnsync.metrics import angular_mse
from gnnsync.solve import find_method
from tests.learn.same_method import assert_same_method


def network(eta, k=1, noise=0.0, n=60, p=0.4, seed=0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    return observe(erdos_renyi(n, p, seed), angles, eta, rng=rng, inlier_noise=noise)


def short(**changes):
    return gnnsync_plus(
        training=Training(max_steps=20, steps_per_epoch=10, accelerator="cpu"), **changes
    )


@pytest.mark.parametrize(("eta", "k"), [(0.0, 1), (0.5, 1), (0.2, 2)])
def test_exact_inliers_give_nearly_exact_angles(eta, k):
    graph = network(eta, k)
    solution = short()(graph, k)
    assert angular_mse(solution.angles, graph.angles) < 1e-4


def test_far_better_than_the_published_model():
    graph = network(0.6, noise=0.05)
    plain = gnnsync_paper(training=Training(max_steps=60, accelerator="cpu"))(graph)
    errors = [angular_mse(s.angles, graph.angles) for s in (short()(graph), plain)]
    assert errors[0] < 0.5 * errors[1]


def test_belief_steps_do_without_robust_features():
    """From spectral features the published model is stuck; message passing is not."""
    graph = network(0.6, noise=0.05)
    start = MethodFeatures(SpectralRN())
    solution = short(features=start, steps=BeliefSteps)(graph)
    assert angular_mse(solution.angles, graph.angles) < 0.3 * angular_mse(
        start(graph, 1, 0), graph.angles
    )


def test_the_config_says_what_the_code_says():
    assert_same_method(["method=gnnsync_plus"], find_method("gnnsync_plus"))


def test_its_parts_can_be_chosen():
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        cfg = compose("config", overrides=["method=gnnsync_plus", "model/steps=belief"])
    assert isinstance(build(cfg)[2].steps(1), BeliefSteps)
