"""Belief propagation on the circle."""
