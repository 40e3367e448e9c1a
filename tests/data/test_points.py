import numpy as np
import pytest
from scipy.io import savemat
from scipy.spatial import cKDTree

from gnnsync.data.patches import nearest_neighbour_patches
from gnnsync.data.points import (
    Letters,
    PointFile,
    USCities,
    _outlines,
    albers,
    farthest_first,
    thin,
)
from gnnsync.errors import DataFileError, ParameterError


def spread_ratio(points, size=50):
    """Root mean square radius of each patch over that of the whole cloud."""
    position = nearest_neighbour_patches(points, size).position
    patch = np.sqrt((np.abs(position - position.mean(axis=1, keepdims=True)) ** 2).mean(axis=1))
    return patch / np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())


def test_us_cities_are_1097_evenly_spread_points():
    points = USCities()()
    assert points.shape == (1097, 2)
    nearest = cKDTree(points).query(points, k=2)[0][:, 1]
    assert 55 < nearest.min() < 65
    low, middle = np.quantile(spread_ratio(points), [0.05, 0.5])
    assert low == pytest.approx(0.17, abs=0.015)
    assert middle == pytest.approx(0.185, abs=0.015)
    # From Florida to Washington, in kilometres.
    assert 4200 < np.ptp(points[:, 0]) < 4700
    assert 2500 < np.ptp(points[:, 1]) < 3000


def test_us_cities_are_the_same_at_every_call_and_safe_to_change():
    first = USCities()()
    first[:] = 0
    assert np.ptp(USCities()(), axis=0).min() > 1


def test_uneven_us_cities_have_the_patches_of_the_published_map():
    uneven = USCities(evenness=0.35)
    points = uneven()
    assert points.shape == (1097, 2)
    low, middle = np.quantile(spread_ratio(points), [0.05, 0.5])
    assert low == pytest.approx(0.09, abs=0.01)
    assert middle == pytest.approx(0.17, abs=0.01)
    assert len(np.unique(points, axis=0)) == 1097
    assert np.array_equal(points, USCities(evenness=0.35)())
    assert uneven.name != USCities().name


def test_unevenness_grows_as_evenness_falls():
    low = [np.quantile(spread_ratio(USCities(400, e)()), 0.05) for e in (1.0, 0.7, 0.4, 0.0)]
    assert (np.diff(low) < -0.01).all()


@pytest.mark.parametrize("evenness", [-0.1, 1.1, "much"])
def test_evenness_is_from_0_to_1(evenness):
    with pytest.raises(ParameterError, match="evenness"):
        USCities(evenness=evenness)


def test_albers_keeps_areas_and_has_its_origin_at_the_origin():
    assert albers(np.array([37.5]), np.array([-96.0])) == pytest.approx(np.zeros((1, 2)))

    def area(latitude, longitude, step=0.01):
        corners = albers(
            np.array([latitude, latitude, latitude + step, latitude + step]),
            np.array([longitude, longitude + step, longitude + step, longitude]),
        )
        x, y = corners.T
        return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2

    for latitude, longitude in [(25, -80), (37, -96), (48, -124)]:
        radians = np.radians([latitude, latitude + 0.01])
        true = 6371.0088**2 * np.radians(0.01) * np.diff(np.sin(radians))[0]
        assert area(latitude, longitude) == pytest.approx(true, rel=1e-4)


def test_albers_agrees_with_the_worked_example_of_snyder():
    """Map Projections: A Working Manual, p. 291: unit sphere, 35° N 75° W."""
    point = albers(
        np.array([35.0]), np.array([-75.0]), parallels=(29.5, 45.5), origin=(23, -96), radius=1.0
    )
    assert point == pytest.approx(np.array([[0.2952720, 0.2416774]]), abs=1e-7)


def test_thin_keeps_earlier_points_and_exactly_n(rng):
    points = rng.uniform(size=(500, 2))
    kept = thin(points, 60)
    assert len(kept) == 60
    assert kept[0] == 0
    assert (np.diff(kept) > 0).all()
    everything = cKDTree(points).query(points, k=2)[0][:, 1].min()
    assert cKDTree(points[kept]).query(points[kept], k=2)[0][:, 1].min() > 10 * everything


def test_thin_keeps_more_of_a_dense_part_when_it_is_to_be_uneven(rng):
    dense, sparse = rng.uniform(size=(400, 2)), 5 * rng.uniform(size=(400, 2)) + [2, 0]
    points = rng.permutation(np.concatenate([dense, sparse]))
    kept = [(points[thin(points, 80, e)][:, 0] < 1).sum() for e in (1.0, 0.5, 0.0)]
    assert kept[0] < 10 < kept[1] < kept[2]
    assert 30 < kept[2] < 50


def test_thin_is_not_misled_by_coinciding_points(rng):
    points = np.concatenate([np.zeros((30, 2)), rng.uniform(size=(100, 2))])
    kept = thin(points, 20, 0.5)
    assert len(kept) == 20
    assert (kept < 30).sum() == 1


def test_thin_refuses_more_than_there_are(rng):
    with pytest.raises(ParameterError, match="from 1 to the 5 points"):
        thin(rng.uniform(size=(5, 2)), 6)


def test_pacm_is_reproducible_and_inside_its_letters():
    points = Letters()()
    assert points.shape == (426, 2)
    assert np.array_equal(points, Letters()())
    assert not np.array_equal(points, Letters(seed=1)())
    assert Letters().name == "pacm"
    # The eye of the P and of the A are holes: four letters have six outlines.
    assert len(_outlines("PACM")) == 6
    hole = Letters(text="O", n=2000)()
    centre = (hole.min(axis=0) + hole.max(axis=0)) / 2
    assert np.linalg.norm(hole - centre, axis=1).min() > 0.15


def test_letters_are_filled_evenly():
    """No two points are close, and no place inside is far from all."""
    points, others = Letters()(), Letters(seed=1, n=4000)()
    tree = cKDTree(points)
    apart = tree.query(points, k=2)[0][:, 1]
    assert apart.min() > 0.6 * np.median(apart)
    assert tree.query(others)[0].max() < 1.3 * np.median(apart)


def test_letters_of_another_width():
    usual, wide = Letters(), Letters(width=1.7)
    size, twice = (np.ptp(cloud(), axis=0) for cloud in (usual, wide))
    assert twice / size == pytest.approx([2.0, 1.0], rel=0.02)
    assert wide.name == "pacm_width_1.7"
    with pytest.raises(ParameterError, match="width"):
        Letters(width=0)


def test_farthest_first_on_a_line():
    line = np.stack([[0.0, 1.0, 2.0, 3.0, 10.0], np.zeros(5)], axis=1)
    assert farthest_first(line, 4)[:, 0].tolist() == [0.0, 10.0, 3.0, 1.0]


@pytest.mark.parametrize("kind", ["npy", "csv", "mat"])
def test_point_files_of_every_kind(tmp_path, rng, kind):
    points = rng.normal(size=(9, 2))
    path = tmp_path / f"cloud.{kind}"
    if kind == "npy":
        np.save(path, points)
    elif kind == "csv":
        lines = [f"{x!r},{y!r}" for x, y in points.tolist()]
        path.write_text("x,y\n" + "\n".join(lines) + "\n")
    else:
        savemat(path, {"cloud": points, "other": np.zeros((3, 3))})
    source = PointFile(str(path))
    assert source.name == "cloud"
    assert np.array_equal(source(), points)


def test_mat_file_with_several_clouds_needs_a_name(tmp_path, rng):
    path = tmp_path / "two.mat"
    savemat(path, {"a": rng.normal(size=(4, 2)), "b": rng.normal(size=(5, 2))})
    with pytest.raises(DataFileError, match=r"two.mat: 2 arrays.*a \(4, 2\), b \(5, 2\)"):
        PointFile(str(path))()
    assert PointFile(str(path), "b")().shape == (5, 2)
    with pytest.raises(DataFileError, match=r"no n × 2 array 'c'; the file holds a \(4, 2\)"):
        PointFile(str(path), "c")()
