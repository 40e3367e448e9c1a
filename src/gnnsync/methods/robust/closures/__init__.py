"""Which closures of a pose graph are true, from the angles alone: the parts of `gnc_angles`."""
