"""Known angles for any method: hold them, and say where they contradict the measurements.

k = 1   all anchors become one reference node            contraction
        the method solves the smaller graph
k > 1   trusted edges join the anchors, the method       held
        solves, the groups are rotated to the anchors,
        a least squares fit moves their neighbours
both    what the measurements alone say of the anchors   contradiction
"""
