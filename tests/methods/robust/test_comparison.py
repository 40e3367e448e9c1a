"""Whether fits agree."""

from dataclasses import replace

from gnnsync.data.measurement import random_geometric
from gnnsync.methods.robust.comparison import best_two_agree, fits_agree
from gnnsync.methods.robust.noise.mixture import fit_mixture
from tests.methods.networks import observed, synthetic


def test_best_two_agree_if_nearly_all_nodes_have_the_same_angles():
    graph = observed(random_geometric(80, 0.3, 1), k=2, seed=1, eta=0.2)
    fit = fit_mixture(graph, graph.angles)
    rotated = replace(fit, angles=fit.angles[:, ::-1] + 1.0)
    few, many = fit.angles.copy(), fit.angles.copy()
    few[:3] += 1.0
    many[:20] += 1.0
    assert not best_two_agree([fit])
    assert best_two_agree([fit, rotated])
    assert best_two_agree([fit, replace(fit, angles=few)])
    assert not best_two_agree([fit, replace(fit, angles=many)])
    worse = replace(fit, angles=many, evidence=fit.evidence - 1.0)
    assert best_two_agree([worse, fit, rotated])


def test_one_group_allows_fewer_differences():
    graph = synthetic(0.2, n=100)
    fit = fit_mixture(graph, graph.angles)
    moved = fit.angles.copy()
    moved[:2] += 1.0
    assert fits_agree(fit, replace(fit, angles=fit.angles + 2.0))
    assert not fits_agree(fit, replace(fit, angles=moved))
