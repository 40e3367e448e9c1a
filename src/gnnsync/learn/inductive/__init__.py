"""The inductive network: trained once on many graphs, it solves a new one in one pass."""
