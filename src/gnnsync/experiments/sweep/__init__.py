"""Sweeps: the grid of jobs, what is done, launching the rest, the summary."""
