import numpy as np
import pytest

from gnnsync.methods.poses.normal_equations import NormalEquations
from gnnsync.methods.poses.residual import RelativePoses
from tests.methods.poses.worlds import manhattan


@pytest.fixture
def system():
    graph, truth = manhattan(25, 6, per_visit=1.0, gap=3)
    edges = RelativePoses.of(graph)
    held = np.zeros(25, bool)
    held[4] = True
    system = NormalEquations(edges, held)
    system.linearise(truth, edges.information)
    system.factorise()
    return system, edges, held


def dense(system, edges, held):
    jacobian = np.zeros((len(edges), 3, 25, 3))
    for e in range(len(edges)):
        jacobian[e, :, edges.start[e]] += system.jacobians[0][e]
        jacobian[e, :, edges.end[e]] += system.jacobians[1][e]
    jacobian = jacobian[:, :, ~held].reshape(len(edges), 3, -1)
    return jacobian, np.einsum("eak,eab,ebl->kl", jacobian, edges.information, jacobian)


def test_solve_and_gradient_agree_with_dense_algebra(system):
    jacobian, matrix = dense(*system)
    equations, edges, held = system
    right = np.random.default_rng(0).normal(size=(25, 3))
    found = equations.solve(right)
    assert found[held].tolist() == [[0, 0, 0]]
    assert found[~held].ravel() == pytest.approx(np.linalg.solve(matrix, right[~held].ravel()))
    force = np.random.default_rng(1).normal(size=(len(edges), 3))
    expected = np.einsum("eak,ea->k", jacobian, force)
    assert equations.gradient(force)[~held].ravel() == pytest.approx(expected)


def test_edge_covariance_is_exact_and_its_leverage_counts_the_unknowns(system):
    jacobian, matrix = dense(*system)
    equations, edges, _ = system
    covariance = equations.edge_covariance()
    expected = jacobian @ np.linalg.inv(matrix) @ jacobian.transpose(0, 2, 1)
    assert covariance == pytest.approx(expected, abs=1e-9)
    leverage = np.einsum("eab,eba->", edges.information, covariance)
    assert leverage == pytest.approx(3 * 24, rel=1e-6)


def test_draws_have_the_covariance_of_the_inverse(system):
    _, matrix = dense(*system)
    equations, _, held = system
    rng = np.random.default_rng(2)
    draws = np.stack([equations.sample(rng)[~held].ravel() for _ in range(2000)])
    expected = np.sqrt(np.diag(np.linalg.inv(matrix)))
    assert draws.std(axis=0) == pytest.approx(expected, rel=0.1)


def test_the_pattern_is_reused_for_other_weights_and_damping(system):
    equations, edges, held = system
    poses = np.random.default_rng(3).normal(size=(25, 3))
    equations.linearise(poses, 2 * edges.information)
    equations.factorise(0.5)
    _, matrix = dense(equations, edges, held)
    damped = 2 * (matrix + 0.5 * np.diag(np.diag(matrix)))
    right = np.ones((25, 3))
    assert equations.solve(right)[~held].ravel() == pytest.approx(
        np.linalg.solve(damped, np.ones(72))
    )
