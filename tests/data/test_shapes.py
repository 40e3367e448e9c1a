import numpy as np
import pytest

from gnnsync.data.shapes import CShape, SquareWithHoles, UniformSquare
from gnnsync.errors import ParameterError

SHAPES = [UniformSquare, CShape, SquareWithHoles]


@pytest.mark.parametrize("shape", SHAPES)
def test_points_are_inside_the_square_and_follow_from_the_seed(shape):
    points = shape(200, seed=3)()
    assert points.shape == (200, 2)
    assert points.min() >= 0
    assert points.max() <= 1
    np.testing.assert_array_equal(points, shape(200, seed=3)())
    assert not np.array_equal(points, shape(200, seed=4)())


def test_the_letter_has_arms_and_a_spine_of_one_width():
    x, y = CShape(4000, slot=0.4)().T
    slot = np.abs(y - 0.5) < 0.2
    assert x[slot].max() == pytest.approx(0.3, abs=0.01)
    assert x[~slot].max() > 0.99


def test_holes_are_empty():
    points = SquareWithHoles(4000)()
    for hole in ([0.25, 0.25], [0.25, 0.75], [0.75, 0.25], [0.75, 0.75]):
        assert np.linalg.norm(points - hole, axis=1).min() == pytest.approx(0.16, abs=0.01)


def test_names_tell_shapes_apart():
    shapes = [
        UniformSquare(),
        CShape(),
        CShape(slot=0.5),
        SquareWithHoles(),
        SquareWithHoles(radius=0.1),
    ]
    assert len({shape.name for shape in shapes}) == 5


def test_wrong_parameters_are_refused():
    for make in (
        lambda: UniformSquare(2),
        lambda: CShape(slot=1),
        lambda: SquareWithHoles(radius=1),
    ):
        with pytest.raises(ParameterError):
            make()
