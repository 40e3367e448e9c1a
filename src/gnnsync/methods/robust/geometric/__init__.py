"""Graphs that extend in space: regions that are rotated together, growth from a small part."""
