"""The semidefinite relaxation: a bound for every method, certified, equal to Shonan averaging."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.errors import ParameterError
from gnnsync.methods import METHODS, SDP, Spectral
from tests.methods.networks import networks, noisy


def objective(graph, angles):
    z = np.exp(1j * angles[:, 0])
    return float((z.conj() @ (graph.hermitian @ z)).real)


@pytest.mark.parametrize("eta", [0.1, 0.5, 0.8])
def test_relaxation_bounds_every_method(eta):
    graph = networks(eta=eta, seeds=(10,))[0]
    found = SDP()(graph)
    figures = found.diagnostics
    for name, kind in METHODS.items():
        reached = objective(graph, kind()(graph).angles)
        assert reached <= figures["upper_bound"] + 1e-6, name
        assert reached <= figures["relaxation"] * (1 + 1e-9), name
    assert objective(graph, graph.angles) <= figures["upper_bound"]
    assert objective(graph, found.angles) == pytest.approx(figures["objective"])


@pytest.mark.parametrize("eta", [0.0, 0.05, 0.1])
def test_certified_and_tight_at_low_noise(eta):
    for graph in networks(eta=eta, seeds=(10, 20)):
        figures = SDP()(graph).diagnostics
        assert figures["certificate"] >= -1e-6
        assert figures["tightness"] == pytest.approx(1.0, abs=1e-9)
        assert figures["objective"] == pytest.approx(figures["relaxation"], rel=1e-10)


def test_not_tight_at_high_noise_but_still_certified():
    found = SDP()(networks(eta=0.8, seeds=(10,))[0])
    assert found.converged
    assert found.diagnostics["tightness"] < 0.9
    assert found.diagnostics["relaxation"] > found.diagnostics["objective"] + 1


def test_the_value_does_not_depend_on_the_first_rank():
    graph = noisy(eta=0.7)
    values = [SDP(rank=rank)(graph).diagnostics["relaxation"] for rank in (1, 2, 6)]
    np.testing.assert_allclose(values, values[0], rtol=1e-8)


@pytest.mark.parametrize(("field", "value"), [("rank", 0), ("max_rank", 2), ("tol", 0.0)])
def test_parameters_out_of_range(field, value):
    with pytest.raises(ParameterError, match=field):
        SDP(**{field: value})


@pytest.mark.parametrize("sigma", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_agrees_with_shonan_averaging(seed, sigma):
    """Rotation parts of a planar pose graph: odometry along a path, and loop closures.

    The cost is Σ ‖R_j - R_i R_ij‖²/2. The spectral method solves another relaxation, and agrees
    once refined.
    """
    gtsam = pytest.importorskip("gtsam", reason="GTSAM is the peer this test compares with")
    rng = np.random.default_rng(seed)
    n, loops = 40, 60
    i = np.concatenate([np.arange(n - 1), rng.integers(n, size=loops)])
    hop = np.concatenate([np.ones(n - 1, dtype=int), rng.integers(2, n - 1, size=loops)])
    j = (i + hop) % n
    heading = rng.uniform(0, 2 * np.pi, n)
    turn = heading[j] - heading[i] + sigma * rng.standard_normal(len(i))

    noise = gtsam.noiseModel.Isotropic.Sigma(3, 1.0)
    factors = [
        gtsam.BetweenFactorPose2(int(a), int(b), gtsam.Pose2(0.0, 0.0, float(t)), noise)
        for a, b, t in zip(i, j, turn, strict=True)
    ]
    steps = gtsam.LevenbergMarquardtParams.CeresDefaults()
    steps.setRelativeErrorTol(1e-15)
    steps.setAbsoluteErrorTol(1e-15)
    shonan = gtsam.ShonanAveraging2(
        gtsam.BetweenFactorPose2s(factors), gtsam.ShonanAveragingParameters2(steps)
    )
    rotations, _ = shonan.run(shonan.initializeRandomly(), 2, 10)
    expected = shonan.cost(rotations)

    graph = MeasurementGraph(np.stack([j, i]), turn, n)
    for method in (SDP(), Spectral(refine=500)):
        angles = method(graph).angles[:, 0]
        cost = (2 - 2 * np.cos(graph.residual(angles))).sum()
        assert cost == pytest.approx(expected, abs=1e-6)
