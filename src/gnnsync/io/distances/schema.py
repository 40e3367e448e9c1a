"""Titles of the columns of distances, and of points with known positions."""

from __future__ import annotations

from gnnsync.io.tables.titles import Schema

DISTANCES = Schema(
    {
        "i": ("i", "src", "source", "from", "node_a", "node_1", "node1", "node_i", "point_a"),
        "j": ("j", "dst", "target", "to", "node_b", "node_2", "node2", "node_j", "point_b"),
        "distance": ("distance", "dist", "range", "length", "measurement"),
        "sigma": ("sigma", "deviation", "std", "sd", "stddev", "standard_deviation"),
    },
    required=("i", "j", "distance"),
    default=("i", "j", "distance", "sigma"),
    names=("i", "j"),
    numbers=("distance", "sigma"),
    value="distance",
    what="distances",
    positive={
        "distance": "correct it or remove the line; two points at one place are one point",
        "sigma": "correct it, or leave out the column if it is unknown",
    },
)

ANCHORS = Schema(
    {
        "name": ("name", "node", "point", "anchor", "id", "i", "label", "station"),
        "x": ("x", "easting", "east"),
        "y": ("y", "northing", "north"),
    },
    required=("name", "x", "y"),
    default=("name", "x", "y"),
    names=("name",),
    numbers=("x", "y"),
    value="x",
    what="anchors",
)
