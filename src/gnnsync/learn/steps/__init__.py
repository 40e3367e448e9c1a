"""Refinement of the network's angles, one kind of step per file."""

from gnnsync.learn.steps.base import NoSteps, Steps
from gnnsync.learn.steps.belief import BeliefSteps
from gnnsync.learn.steps.projected_gradient import ProjectedGradient
from gnnsync.learn.steps.reweighted import Reweighted

__all__ = ["BeliefSteps", "NoSteps", "ProjectedGradient", "Reweighted", "Steps"]
