import numpy as np
import pytest
from matplotlib.figure import Figure

import gnnsync
from gnnsync.angles import circular_distance
from gnnsync.data.localization import LocalizationDataModule, PatchNetworks
from gnnsync.data.points import Letters, USCities
from gnnsync.data.priors import GammaAngles, UniformAngles
from gnnsync.errors import ParameterError
from gnnsync.metrics import angular_mse
from gnnsync.plots.maps import reconstruction_figures


def pacm(**options):
    return LocalizationDataModule(Letters(), GammaAngles(), **{"seeds": [10]} | options)


@pytest.mark.parametrize("method", ["spectral", "spectral_rn"])
def test_without_noise_the_map_is_exact(method):
    data = pacm(eta=0.0)
    solution = gnnsync.solve(data.graphs[0], method)
    assert angular_mse(solution.angles, data.graphs[0].angles) < 1e-8
    assert data.reconstruct(0, solution).columns()["ane"] < 1e-4
    assert data.recover(0, solution) == pytest.approx(data.points, abs=1e-6)


def test_noise_on_the_us_map_follows_the_published_pattern():
    """The paper has .006 at η = .05, .027 at .1, .151 at .2 for Spectral_RN.

    Our map is spread more evenly, without patches too small to align: about .4 of these.
    """
    found = {}
    for eta in (0.05, 0.1, 0.2):
        data = LocalizationDataModule(USCities(), GammaAngles(), eta=eta, seeds=[10])
        graph = data.graphs[0]
        found[eta] = angular_mse(gnnsync.solve(graph, "spectral_rn").angles, graph.angles)
    assert 0.0015 < found[0.05] < 0.006
    assert 0.007 < found[0.1] < 0.027
    assert 0.03 < found[0.2] < 0.151
    # Twice the noise, at least four times the error.
    assert found[0.1] > 3.5 * found[0.05]
    assert found[0.2] > 3.5 * found[0.1]


def test_the_settings_are_the_papers():
    data = pacm()
    assert data.exact_patches.size == 50
    assert data.min_overlap == 6
    assert data.graphs[0].num_nodes == 426
    assert data.graphs[0].is_connected
    assert data.points.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert abs(pacm(centre=False).points.mean()) > 0.1


def test_networks_of_one_seed_share_their_angles_at_every_noise():
    quiet, loud = pacm(eta=0.05), pacm(eta=0.2)
    assert np.array_equal(quiet.graphs[0].angles, loud.graphs[0].angles)
    first, second = pacm(seeds=[10, 20]).graphs
    assert np.array_equal(first.angles, quiet.graphs[0].angles)
    assert not np.array_equal(first.angles, second.angles)


def test_orientation_changes_the_storage_only():
    upper, random = pacm(eta=0.1, orientation="upper"), pacm(eta=0.1)
    assert (upper.graphs[0].src < upper.graphs[0].dst).all()
    share = (random.graphs[0].src < random.graphs[0].dst).mean()
    assert 0.48 < share < 0.52
    one, other = (gnnsync.solve(data.graphs[0], "spectral_rn").angles for data in (upper, random))
    assert angular_mse(one, other) < 1e-9


def test_rotating_the_cloud_leaves_the_offsets_of_exact_patches():
    turn = np.exp(0.7j)

    def turned():
        z = (Letters()() @ [1, 1j]) * turn
        return np.stack([z.real, z.imag], axis=1)

    straight = pacm(eta=0.0).graphs[0]
    rotated = LocalizationDataModule(turned, GammaAngles(), eta=0.0, seeds=[10]).graphs[0]
    assert np.array_equal(straight.edge_index, rotated.edge_index)
    assert circular_distance(straight.offset, rotated.offset).max() < 1e-9


def test_weights_reach_the_graph_and_help():
    plain, weighted = pacm(eta=0.15), pacm(eta=0.15, weights="precision")
    assert plain.graphs[0].weight is None
    mse = [
        angular_mse(gnnsync.solve(data.graphs[0], "spectral_rn").angles, data.graphs[0].angles)
        for data in (plain, weighted)
    ]
    assert mse[1] < mse[0]


def test_metrics_and_description():
    data = pacm(eta=0.1)
    solution = gnnsync.solve(data.graphs[0], "spectral_rn")
    metrics = data.reconstruct(0, solution).columns()
    assert set(metrics) == {"ane", "ane_paper"}
    assert 0 < metrics["ane"] < 0.2
    assert metrics["ane"] <= metrics["ane_paper"] + 0.01
    described = data.describe()
    assert described["graph"] == "pacm"
    assert described["n"] == 426
    assert described["eta"] == 0.1
    assert described["angles"] == "GammaAngles"


def test_the_papers_shift_can_be_far_off():
    """Truth all 0 and an estimate that straddles 0: only the circular mean finds the shift."""

    def zero_angles(n, k, rng):
        return np.zeros((n, k))

    data = LocalizationDataModule(Letters(), zero_angles, eta=0.0, seeds=[0])
    solution = gnnsync.solve(data.graphs[0], "trivial")
    wobble = 0.01 * np.where(np.arange(426) % 2, 1, -1)[:, None]
    solution = solution.replace(angles=np.mod(wobble, 2 * np.pi))
    metrics = data.reconstruct(0, solution).columns()
    assert metrics["ane"] < 0.02
    assert metrics["ane_paper"] > 1.5


def test_two_far_clouds_are_told_to_be_apart(caplog):
    def clouds():
        points = np.random.default_rng(0).normal(size=(40, 2))
        points[20:] += 100
        return points

    data = LocalizationDataModule(clouds, UniformAngles(), neighbours=8, min_overlap=3, seeds=[0])
    assert data.graphs[0].num_components >= 2
    assert "data.neighbours" in caplog.text


def test_from_file(tmp_path):
    np.save(tmp_path / "cloud.npy", Letters()())
    data = LocalizationDataModule.from_file(
        str(tmp_path / "cloud.npy"), GammaAngles(), eta=0.1, seeds=[10]
    )
    assert data.describe()["graph"] == "cloud"
    assert np.array_equal(data.graphs[0].offset, pacm(eta=0.1).graphs[0].offset)


def test_a_reconstruction_has_the_maps_and_two_overlapping_patches():
    data = pacm(eta=0.1)
    solution = gnnsync.solve(data.graphs[0], "spectral_rn")
    found = data.reconstruct(0, solution)
    assert np.array_equal(found.points, data.points)
    np.testing.assert_allclose(found.recovered, data.recover(0, solution))
    np.testing.assert_allclose(found.recovered_paper, data.recover(0, solution, circular=False))
    common = len(np.intersect1d(*found.pair.member))
    assert 0.3 <= common / data.exact_patches.size <= 0.6
    # Turning the patches back brings them near their noisy selves, on average.
    pair = found.pair
    assert np.abs(pair.aligned - pair.noisy).mean() < np.abs(pair.rotated - pair.noisy).mean()


def test_a_reconstruction_is_drawn():
    data = pacm(eta=0.1)
    found = data.reconstruct(0, gnnsync.solve(data.graphs[0], "spectral_rn"))
    figures = reconstruction_figures(found)
    assert set(figures) == {"map", "error", "pipeline"}
    assert all(isinstance(figure, Figure) for figure in figures.values())


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"eta": -0.1}, "eta"),
        ({"neighbours": 2}, "neighbours"),
        ({"min_overlap": 1}, "min_overlap"),
        ({"weights": "some"}, "weights"),
        ({"centre": "yes"}, "centre"),
        ({"orientation": "released"}, "orientation"),
    ],
)
def test_bad_parameters_are_named(options, name):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        pacm(**options)


def test_patches_fitted_themselves_come_near_their_bound_and_below_the_offsets():
    options = {"eta": 0.2, "neighbours": 40, "seeds": [10]}
    data = PatchNetworks(Letters(n=150), GammaAngles(), known_patches=True, **options)
    graph = data.graphs[0]
    solution = gnnsync.solve(graph, "irls")
    columns = data.reconstruct(0, solution).columns()
    assert 0.8 < columns["mse_known_patches"] / columns["mse_known_patches_limit"] < 1.3
    assert columns["mse_known_patches"] < 0.5 * angular_mse(solution.angles, graph.angles)
    assert columns["ane_known_patches"] < columns["ane"]
    usual = PatchNetworks(Letters(n=150), GammaAngles(), **options)
    assert "mse_known_patches" not in usual.reconstruct(0, solution).columns()
