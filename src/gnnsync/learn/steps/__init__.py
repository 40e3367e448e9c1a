"""Refinement of the network's angles, one kind of step per file."""

from gnnsync.learn.steps.base import NoSteps, Steps
from gnnsync.learn.steps.projected_gradient import ProjectedGradient

__all__ = ["NoSteps", "ProjectedGradient", "Steps"]
