"""Truncated least squares."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.errors import ParameterError
from gnnsync.methods import TranSync
from tests.methods.networks import noisy


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


@pytest.mark.parametrize(("field", "value"), [("decay", 1.0), ("delta_min", 3.0)])
def test_parameters_out_of_range(field, value):
    with pytest.raises(ParameterError, match=field):
        TranSync(**{field: value})
