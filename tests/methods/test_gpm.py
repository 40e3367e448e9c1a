"""The generalized power method and its certificate."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.linalg.eigen import smallest_eigenpair
from gnnsync.methods import (
    GPM,
    SDP,
)
from gnnsync.methods.gpm import dual_matrix
from tests.methods.networks import networks, noisy


def test_gpm_certificate_agrees_with_the_relaxation():
    graph = networks(eta=0.3, seeds=(10,))[0]
    found, relaxed = GPM()(graph), SDP()(graph)
    assert "certified" in found.stop_reason
    assert found.diagnostics["objective"] == pytest.approx(relaxed.diagnostics["relaxation"])


def test_gpm_does_not_certify_a_local_maximum():
    """On a cycle whose offsets are all 2π/n, equal angles are stationary but not best."""
    n = 12
    index = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    graph = MeasurementGraph(index, np.full(n, 2 * np.pi / n), n)
    equal = np.ones(n, dtype=complex)
    dual = dual_matrix(graph.hermitian, equal)
    assert np.abs(dual @ equal).max() < 1e-12
    assert smallest_eigenpair(dual, np.random.default_rng(0))[0] < -0.1
    assert GPM()(graph).diagnostics["certificate"] > -1e-9


def test_gpm_objective_never_falls():
    graph = noisy(eta=0.7)
    values = [GPM(max_iterations=t)(graph).diagnostics["objective"] for t in (1, 2, 5, 10, 50)]
    assert (np.diff(values) >= -1e-9).all()


def test_gpm_reports_an_iteration_limit():
    found = GPM(max_iterations=1, tol=1e-14)(noisy(eta=0.7))
    assert not found.converged
    assert found.stop_reason == "iteration limit"
    assert found.iterations == 1
