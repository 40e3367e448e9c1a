"""Slow exact references, written straight from the equations."""
