"""The parts that `auto`, `belief`, `cycles` and `gnc` are made of, in one folder per idea."""

# Graphs with more edges are solved without the steps whose cost grows faster than the number of
# edges (cycle search, choice of the noise law, bootstrap): those would take minutes.
LARGE_GRAPH_EDGES = 200_000
