"""Values of nodes: known angles, coordinates, point clouds."""
