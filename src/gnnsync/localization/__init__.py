"""Localization from distances: patches, their alignment and synchronization, refinement."""
