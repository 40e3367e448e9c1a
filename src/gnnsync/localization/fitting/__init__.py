"""Positions of the largest likelihood near a start, and the law of the noise."""
