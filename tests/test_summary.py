import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnnsync
from gnnsync.summary import estimate_outliers, summarize


@given(share=st.floats(0, 0.7), noise=st.floats(0.02, 0.3), seed=st.integers(0, 100))
def test_mixture_is_recovered(share, noise, seed):
    rng = np.random.default_rng(seed)
    outlier = rng.random(20_000) < share
    residual = np.where(
        outlier, rng.uniform(-np.pi, np.pi, 20_000), noise * rng.normal(size=20_000)
    )
    found = estimate_outliers(residual)
    assert found[0] == pytest.approx(share, abs=0.03)
    assert found[1] == pytest.approx(noise, rel=0.1)


def test_edges_of_the_scale():
    assert estimate_outliers(np.empty(0)) == (0.0, 0.0)
    assert estimate_outliers(np.zeros(10)) == pytest.approx((0, 1e-6), abs=1e-6)
    rng = np.random.default_rng(0)
    assert estimate_outliers(rng.uniform(-np.pi, np.pi, 5000))[0] > 0.9


def test_summary_of_a_disturbed_graph(make_multigraph):
    graph = make_multigraph(4, n=40, m=800, connected=True)
    offset = graph.offset.copy()
    wrong = np.random.default_rng(1).random(graph.num_edges) < 0.3
    offset[wrong] += np.random.default_rng(2).uniform(0, 2 * np.pi, wrong.sum())
    graph = graph.replace(offset=offset)
    figures = summarize(graph, gnnsync.solve(graph, "spectral"))
    assert figures["outlier_share"] == pytest.approx(0.3, abs=0.06)
    assert figures["residual_quantiles"]["0.99"] > 1
    assert figures["edges"] == graph.num_edges
