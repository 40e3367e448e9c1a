"""Patches: small rigid sets of points, each placed in a frame of its own."""
