"""Whole poses in the plane: headings and positions, with false loop closures found."""

from gnnsync.methods.poses.solver import solve_pose_graph, trusted_connect

__all__ = ["solve_pose_graph", "trusted_connect"]
