"""Posterior of graphs with few cycles, where no fit can tell which edge of a cycle is wrong."""
