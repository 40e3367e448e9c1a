"""The probability that a node's angle is right: bootstrap and error propagation."""
