"""Closed cycles and the rigid bodies that they certify."""
