"""Candidates that agree, and candidates that only seem to."""

import numpy as np

from gnnsync.methods.robust.pool import Pool
from tests.methods.networks import synthetic


def test_a_candidate_that_repeats_a_better_one_is_dropped():
    graph = synthetic(0.3, 0.1)
    pool = Pool(graph, search=True)
    pool.add("truth", lambda: graph.angles)
    assert not pool.agreed()
    pool.add("turned", lambda: graph.angles + 1.0)
    assert pool.agreed()
    assert pool.tried == {"truth", "turned"}


def test_candidates_that_explain_nothing_do_not_end_the_search():
    graph = synthetic(1.0)
    angles = np.random.default_rng(0).uniform(0.0, 2 * np.pi, (graph.num_nodes, 1))
    pool = Pool(graph, search=False)
    pool.add("one", lambda: angles)
    pool.add("two", lambda: angles + 1.0)
    assert max(fit.evidence for fit in pool.fits.values()) < 0.0
    assert not pool.agreed()
