"""Pose graphs: g2o in, poses and trajectories out."""
