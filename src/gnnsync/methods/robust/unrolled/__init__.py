"""The forward pass of the trained network (unrolled belief propagation) in NumPy."""
