"""Matplotlib figures of solutions and maps, without pyplot's global state."""
