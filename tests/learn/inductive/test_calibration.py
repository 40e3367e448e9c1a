import numpy as np
import pytest

from gnnsync.data.stream import GraphLaw, numbered_graph
from gnnsync.learn.inductive.calibration import WEIGHTS, calibrated_estimate, regressors
from gnnsync.learn.inductive.method import GNNSyncInductive
from gnnsync.methods.base import Estimate
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE


@pytest.mark.parametrize("polished", [False, True])
@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_order_is_kept_and_probabilities_are_stated(k, extended, polished):
    raw = np.linspace(0, 1, 101)
    estimate = Estimate(np.zeros((101, k)), edge_confidence=raw, node_confidence=raw)
    found = calibrated_estimate(estimate, k, polished=polished, extended=extended)
    for values in (found.node_confidence, found.edge_confidence):
        assert ((values >= 0) & (values <= 1)).all()
        assert (np.diff(values) >= 0).all()


def test_what_is_not_stated_stays_so():
    estimate = Estimate(np.zeros((3, 1)))
    found = calibrated_estimate(estimate, 1, polished=False, extended=True)
    assert found.node_confidence is None
    assert found.edge_confidence is None


def test_the_weights_fit_the_columns():
    assert {len(weights) for weights in WEIGHTS.values()} == {
        regressors(np.array([0.0, 1.0]), 2).shape[1]
    }
    assert np.isfinite(regressors(np.array([0.0, 1.0]), 2)).all()


@pytest.mark.parametrize("polish", [False, True])
def test_what_is_stated_is_found_on_average(polish):
    """Over graphs that neither training nor fit have seen; by `benchmarks.inductive_confidence`
    over more of them."""
    stated, right, edge, inlier = [], [], [], []
    for number in range(30):
        graph = numbered_graph(GraphLaw(nodes=(30, 120), groups={1: 3, 2: 1}), 913, number)
        solution = GNNSyncInductive(polish=polish)(graph, graph.angles.shape[1])
        if np.isnan(solution.node_confidence).any():
            continue  # too few cycles to say
        error = aligned_error(solution.angles, graph.angles).max(axis=1)
        stated.append(solution.node_confidence.mean())
        right.append((error < NODE_TOLERANCE).mean())
        edge.append(solution.edge_confidence.mean())
        inlier.append((graph.group >= 0).mean())
    assert np.mean(stated) == pytest.approx(np.mean(right), abs=0.1)
    assert np.mean(edge) == pytest.approx(np.mean(inlier), abs=0.07)
    assert np.corrcoef(stated, right)[0, 1] > 0.5
