"""Eigenvectors, the edge operator, least squares, trimmed means, periodogram peaks."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import trim_mean

from gnnsync import MeasurementGraph
from gnnsync.errors import ParameterError
from gnnsync.linalg.eigen import eigen_residual, smallest_eigenpair, top_eigenvectors
from gnnsync.linalg.laplacian import least_squares_shift
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods import IRLS, PPE, TAS, SpectralDisentangled, TranSync
from gnnsync.methods.ppe import periodogram_peak
from gnnsync.methods.tas import trimmed_means
from tests.methods.networks import SHAPES, noisy, observed, pairs_of


@pytest.mark.parametrize("n", [2, 10, 100])
@pytest.mark.parametrize("count", [1, 3])
def test_eigenpairs_agree_with_lapack(n, count, rng):
    a = sp.random_array((n, n), density=0.3, rng=rng) + 1j * sp.random_array(
        (n, n), density=0.3, rng=rng
    )
    matrix = sp.csr_array(a + a.conj().T)
    values, vectors, _ = top_eigenvectors(matrix, count, rng)
    exact = np.linalg.eigvalsh(matrix.toarray())[::-1]
    np.testing.assert_allclose(values[: min(count, n)], exact[: min(count, n)], atol=1e-10)
    assert vectors.shape == (n, count)
    assert eigen_residual(matrix, values, vectors) < 1e-10
    least, vector = smallest_eigenpair(matrix, rng)
    assert least == pytest.approx(exact[-1], abs=1e-7)
    assert np.linalg.norm(matrix @ vector - least * vector) < 1e-5


@pytest.mark.parametrize("shape", ["path", "cycle", "grid"])
def test_tiny_gaps_are_resolved(shape, rng):
    """Eigenvalues 2cos(πj/(n+1)) of a path differ by some 10⁻⁷ here."""
    import networkx as nx

    n = 10_000
    made = {"path": nx.path_graph(n), "cycle": nx.cycle_graph(n)}
    made["grid"] = nx.convert_node_labels_to_integers(nx.grid_2d_graph(100, 100))
    graph = observed(pairs_of(made[shape]))
    matrix = EdgeOperator(graph).hermitian(graph.edge_weight)
    values, vectors, _ = top_eigenvectors(matrix, 1, rng)
    top = {"path": 2 * np.cos(np.pi / (n + 1)), "cycle": 2.0, "grid": 4 * np.cos(np.pi / 101)}
    assert values[0] == pytest.approx(top[shape], rel=1e-13)
    aligned = vectors[:, 0] * np.exp(-1j * graph.angles[:, 0])
    aligned /= aligned[n // 2] / abs(aligned[n // 2])
    assert np.abs(np.angle(aligned)).max() < 1e-4


def test_operator_agrees_with_the_graph(make_multigraph):
    graph = make_multigraph(3, weighted=True, connected=True)
    operator = EdgeOperator(graph)
    dense = graph.hermitian.toarray()
    np.testing.assert_allclose(operator.hermitian(graph.edge_weight).toarray(), dense, atol=1e-14)
    np.testing.assert_allclose(operator.degree(graph.edge_weight), graph.degree)
    scale = 1 / np.sqrt(graph.degree)
    normalised = operator.normalised(graph.edge_weight).toarray()
    np.testing.assert_allclose(normalised, scale[:, None] * dense * scale, atol=1e-14)
    tripled = graph.replace(offset=3 * graph.offset)
    np.testing.assert_allclose(
        operator.hermitian(graph.edge_weight, 3).toarray(),
        tripled.hermitian.toarray(),
        atol=1e-12,
    )
    z = np.exp(1j * np.arange(graph.num_nodes))
    chord = 2 - 2 * np.cos(graph.residual(np.arange(graph.num_nodes) * 1.0))
    np.testing.assert_allclose(operator.squared_chord(z), chord, atol=1e-12)


@given(st.integers(0, 10_000))
def test_least_squares_agree_with_the_pseudoinverse(seed):
    rng = np.random.default_rng(seed)
    n, m = 8, 14
    src = rng.integers(n, size=m)
    dst = (src + rng.integers(1, n, size=m)) % n
    operator = EdgeOperator(MeasurementGraph(np.stack([src, dst]), np.zeros(m), n))
    weight = rng.uniform(0.1, 1, m) * (rng.random(m) < 0.7)
    target = rng.standard_normal(m)
    incidence = np.zeros((m, n))
    incidence[np.arange(m), src], incidence[np.arange(m), dst] = 1.0, -1.0
    root = np.sqrt(weight)
    best = np.linalg.lstsq(root[:, None] * incidence, root * target, rcond=None)[0]
    found = least_squares_shift(operator, weight, target)
    np.testing.assert_allclose(root * (incidence @ (found - best)), 0, atol=1e-6)


@given(st.integers(1, 12), st.sampled_from([0.0, 0.1, 0.25, 0.4]), st.integers(0, 10_000))
def test_trimmed_mean_of_whole_shares_is_the_usual_one(size, trim, seed):
    """Where trim · size is whole, interval by weight and count by value are the same."""
    size = size * 20
    value = np.random.default_rng(seed).uniform(-np.pi, np.pi, size)
    found = trimmed_means(np.zeros(size, dtype=int), value, np.ones(size), trim, 2)
    np.testing.assert_allclose(found, [trim_mean(value, trim), 0.0], atol=1e-12)


def test_trimmed_mean_of_one_value_is_that_value():
    found = trimmed_means(np.array([1]), np.array([0.7]), np.array([3.0]), 0.4, 2)
    np.testing.assert_allclose(found, [0.0, 0.7])


@given(st.floats(0, 6.28), st.integers(1, 10))
def test_peak_of_a_pure_tone(angle, frequencies):
    coefficient = np.exp(1j * angle * np.arange(1, frequencies + 1))[None]
    found = periodogram_peak(coefficient, 8 * frequencies)
    assert abs(np.exp(1j * found[0]) - np.exp(1j * angle)) < 1e-7


def test_peak_is_the_maximum_of_the_periodogram(rng):
    coefficient = rng.standard_normal((50, 12)).view(complex)
    phi = periodogram_peak(coefficient, 48)

    def height(angle):
        return (coefficient * np.exp(-1j * angle[:, None] * np.arange(1, 7))).real.sum(axis=1)

    fine = np.max([height(np.full(50, a)) for a in np.linspace(0, 2 * np.pi, 2000)], axis=0)
    assert (height(phi) >= fine - 1e-3 * np.abs(coefficient).sum(axis=1)).mean() > 0.95


def test_irls_lowers_its_objective_and_p_changes_it():
    graph = noisy(eta=0.5)
    z = {p: np.exp(1j * IRLS(p=p)(graph).angles[:, 0]) for p in (0.5, 1.0, 2.0)}
    operator = EdgeOperator(graph)

    def cost(p, phase):
        return graph.edge_weight @ operator.squared_chord(phase) ** (p / 2)

    for p in (1.0, 2.0):
        assert cost(p, z[p]) == min(cost(p, phase) for phase in z.values())
    assert cost(0.5, z[0.5]) < cost(0.5, z[2.0])


def test_irls_iteration_limit_is_reported():
    found = IRLS(max_iterations=3)(noisy(eta=0.6))
    assert not found.converged
    assert (found.iterations, found.stop_reason) == (3, "iteration limit")


def test_transync_keeps_the_inliers():
    graph = noisy(eta=0.3)
    found = TranSync()(graph)
    assert found.diagnostics["edges_kept"] == pytest.approx(np.mean(graph.group == 0), abs=0.01)


def test_transync_stops_when_no_edge_is_left():
    """Two contradictory measurements of one pair: both residuals are 1 at the mean."""
    graph = MeasurementGraph(np.array([[0, 0], [1, 1]]), np.array([0.0, 2.0]), 2)
    found = TranSync()(graph)
    assert found.stop_reason == "no edge below the truncation"
    np.testing.assert_allclose(np.abs(graph.residual(found.angles[:, 0])), 1.0, atol=1e-6)


def test_tas_trimming_drops_outliers():
    graph = noisy(eta=0.3, n=60, p=0.4)

    def error(solution):
        return np.abs(graph.residual(solution.angles[:, 0]))[graph.group == 0].mean()

    assert error(TAS()(graph)) < 0.01 * error(TAS(trim=0.0)(graph))


def test_tas_start_matters_where_averages_travel_slowly():
    graph = observed(SHAPES["path"])
    assert TAS()(graph).iterations == 1
    from_zero = TAS(start="zero")(graph)
    assert not from_zero.converged
    assert np.abs(graph.residual(from_zero.angles[:, 0])).max() > 0.1


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (IRLS, "p", 0.0),
        (IRLS, "epsilon_min", 2.0),
        (TAS, "trim", 0.5),
        (TAS, "start", "warm"),
        (TranSync, "decay", 1.0),
        (TranSync, "delta_min", 3.0),
        (PPE, "frequencies", 0),
        (PPE, "grid", 1),
        (SpectralDisentangled, "max_iterations", 0),
    ],
)
def test_parameters_out_of_range(kind, field, value):
    with pytest.raises(ParameterError, match=field):
        kind(**{field: value})
