"""The law of the inlier noise, chosen by evidence."""

from __future__ import annotations

from dataclasses import replace

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.law import LAPLACE
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.work import advance, time_is_up

# Laws of the inlier noise that are tried after the normal one, by their degrees of freedom, with
# the evidence per angle that each must gain: Laplace's law fits one edge per node exactly, which is
# worth up to 0.25 on normal noise.
_LAWS = {4.0: 0.0, 1.0: 0.0, LAPLACE: 0.3}
# EM iterations that bring a law within the given evidence per angle of its final one: 0.08 at most
# in 33 networks of `benchmarks.robustness wrong`.
_LAW_ITERATIONS, _LAW_MARGIN = 6, 0.1


def best_law(graph: MeasurementGraph, fit: MixtureFit) -> MixtureFit:
    """The fit under the noise law of greatest evidence.

    A few EM iterations tell which laws come near it; only those are fitted exactly.
    """
    size = fit.angles.size
    rough = {
        dof: fit_mixture(graph, fit.angles, dof=dof, like=fit, max_iterations=_LAW_ITERATIONS)
        for dof in _LAWS
    }
    advance(0.5)
    gain = {dof: rough[dof].evidence - handicap * size for dof, handicap in _LAWS.items()}
    near = max(fit.evidence, *gain.values()) - _LAW_MARGIN * size
    best, most = fit, fit.evidence
    for dof, handicap in _LAWS.items():
        if gain[dof] > near and not time_is_up():
            other = fit_mixture(graph, rough[dof].angles, dof=dof, like=rough[dof])
            evidence = other.evidence - handicap * size
            if evidence > most:
                best, most = other, evidence
    return best if best is fit else replace(best, iterations=fit.iterations + best.iterations)
