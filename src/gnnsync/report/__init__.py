"""Figures and tables from results."""
