"""The closures that can be judged one by one: those whose prediction is tight."""

from __future__ import annotations

import numpy as np

from gnnsync.methods.robust.closures.density import posterior, relative_density
from gnnsync.methods.robust.closures.fit import ClosureFit, predict, updated_scales
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import Scales
from gnnsync.typing import FloatArray

_MAX_ITERATIONS, _MIN_ITERATIONS = 14, 5
_STEP, _CONVERGED = 0.8, 0.05
# Outlier share before any closure is judged, and its limits afterwards.
_FIRST_SHARE, _LEAST_SHARE, _MOST_SHARE = 0.1, 0.02, 0.9
# Fewest closures from which the share is estimated.
_FEW = 10


def admit_tight(
    problem: ClosureProblem, angles: FloatArray, scales: Scales, gate: float
) -> ClosureFit:
    """Believe closures that fit a prediction with a standard deviation below `gate` radians.

    A false closure of random heading fits such a prediction with a probability of about the gate,
    and if it does, it does little harm. Believed closures make further predictions tight, so that
    certainty grows from short loops to long ones.
    """
    factor = problem.factor()
    edges = problem.closures
    believed = problem.trusted.astype(float)
    share = _FIRST_SHARE
    for iteration in range(1, _MAX_ITERATIONS + 1):
        angles, error, variance = predict(problem, factor, angles, believed, scales)
        tight = np.sqrt(variance[edges]) < gate
        chance = posterior(relative_density(error[edges], variance[edges]), share)
        if tight.sum() > _FEW:
            share = float(np.clip(1.0 - chance[tight].mean(), _LEAST_SHARE, _MOST_SHARE))
        new = np.where(tight, chance, 0.0)
        change = float(np.abs(new - believed[edges]).max(initial=0.0))
        believed[edges] = _STEP * new + (1.0 - _STEP) * believed[edges]
        scales = updated_scales(problem, scales, error, variance, believed)
        if change < _CONVERGED and iteration >= _MIN_ITERATIONS:
            break
    return ClosureFit(angles, believed, scales, iterations=iteration, admitted=tight)
