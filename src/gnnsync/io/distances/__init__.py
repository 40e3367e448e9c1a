"""Measured distances and anchors: files and objects in, positions out."""
