"""Measurements as matrices: Matrix Market and NPZ."""
