import logging
from functools import partial

import numpy as np
import pytest

from gnnsync.data import Networks, SyncDataModule, SyntheticDataModule, SyntheticNetworks
from gnnsync.data.measurement import barabasi_albert, erdos_renyi, random_geometric
from gnnsync.data.priors import GammaAngles, NormalBlockAngles, UniformAngles
from gnnsync.errors import GraphError, ParameterError
from gnnsync.learn.batch import ReplicaBatch

MODELS = [erdos_renyi, barabasi_albert, random_geometric]


def module(measurement=erdos_renyi, angles=None, **options):
    options = {"n": 60, "p": 0.15, "seeds": [1, 2], **options}
    return SyntheticDataModule(measurement, angles or GammaAngles(), **options)


def pair_sets(graph):
    return np.sort(graph.edge_index, axis=0)


@pytest.mark.parametrize("measurement", MODELS)
def test_one_connected_network_per_seed(measurement):
    data = module(measurement, p=0.2, eta=0.3, k=2, seeds=[5, 6, 7])
    assert len(data.graphs) == 3
    for graph in data.graphs:
        assert graph.is_connected
        assert graph.num_nodes == 60
        assert graph.angles.shape == (60, 2)
        assert set(np.unique(graph.group)) == {-1, 0, 1}


@pytest.mark.parametrize("measurement", MODELS)
@pytest.mark.parametrize("orientation", ["random", "upper", "released"])
def test_the_same_seed_gives_the_same_network(measurement, orientation):
    options = {"p": 0.2, "eta": 0.5, "k": 2, "orientation": orientation, "inlier_noise": 0.1}
    # The second module draws the network in another company and order.
    first = module(measurement, seeds=[3, 4], **options).graphs[0]
    second = module(measurement, seeds=[9, 3], **options).graphs[1]
    for name in ("edge_index", "offset", "angles", "group"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    other = module(measurement, seeds=[4], **options).graphs[0]
    assert not np.array_equal(first.angles, other.angles)


@pytest.mark.parametrize(
    "change",
    [{"eta": 0.9}, {"orientation": "upper"}, {"inlier_noise": 0.2}],
    ids=["eta", "orientation", "noise"],
)
def test_what_is_observed_does_not_change_pairs_and_angles(change):
    base = {"eta": 0.2, "k": 2}
    first, second = module(**base).graphs[0], module(**{**base, **change}).graphs[0]
    np.testing.assert_array_equal(pair_sets(first), pair_sets(second))
    np.testing.assert_array_equal(first.angles, second.angles)
    assert not np.array_equal(first.offset, second.offset)


def test_the_prior_does_not_change_the_pairs():
    first, second = module().graphs[0], module(angles=UniformAngles()).graphs[0]
    np.testing.assert_array_equal(pair_sets(first), pair_sets(second))


def test_raising_eta_only_turns_inliers_into_outliers():
    low, high = (module(eta=eta).graphs[0].group for eta in (0.3, 0.6))
    assert (high[low == -1] == -1).all()
    assert (high == -1).sum() > (low == -1).sum()


def test_redraws_until_connected_and_says_so(caplog):
    calls = []

    def third_time_lucky(n, p, seed):
        calls.append(seed)
        path = np.stack([np.arange(n - 1), np.arange(1, n)])
        return path if len(calls) == 3 else path[:, 1:]

    with caplog.at_level(logging.INFO, logger="gnnsync.data.synthetic"):
        graph = module(third_time_lucky, seeds=[8]).graphs[0]
    assert graph.is_connected
    assert len(set(calls)) == 3  # every draw has a seed of its own
    assert "network seed 8: connected after 2 redraws" in caplog.text


@pytest.mark.parametrize("max_draws", [1, 4])
def test_a_hopeless_graph_is_a_clear_error(max_draws):
    calls = []

    def hopeless(n, p, seed):
        calls.append(seed)
        return erdos_renyi(n, p, seed)

    data = module(hopeless, p=0.01, seeds=[8], max_draws=max_draws)
    message = rf"no connected .* in {max_draws} draws for n = 60, p = 0.01, seed 8: raise p"
    with pytest.raises(GraphError, match=message):
        data.setup()
    assert len(calls) == max_draws


def test_p_zero_leaves_no_edges_and_is_said():
    with pytest.raises(GraphError, match="no connected measurement graph"):
        _ = module(p=0).graphs


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("p", [-0.1, 1.1, float("nan"), float("inf"), "0.1", None, True]),
        ("eta", [-0.1, 1.01, float("nan"), "0.5", None, True]),
        ("inlier_noise", [-1, float("nan"), float("inf"), "0", True]),
        ("k", [0, -1, 1.0, "2", None, True]),
        ("n", [1, 0, -5, 360.0, "360", None, True]),
        ("max_draws", [0, 1.5, True]),
        ("orientation", ["lower", "", None, 0]),
        ("seeds", [[], 3, None, "12", [1.5], [-1], [True], ["a"], 2.5, [4, 4]]),
    ],
)
def test_bad_parameters_are_named(name, values):
    for value in values:
        with pytest.raises(ParameterError, match=rf"^{name} = .*: must be ") as caught:
            module(**{name: value})
        assert caught.value.name == name


@pytest.mark.parametrize(("p", "eta"), [(1, 0), (1.0, 1.0)])
def test_the_ends_of_the_ranges_are_allowed(p, eta):
    graph = module(p=p, eta=eta, n=2, seeds=np.array([0])).graphs[0]
    assert graph.num_edges == 1
    assert graph.group[0] == (-1 if eta == 1 else 0)


def test_setup_is_idempotent_and_the_loader_gives_all_networks_in_one_batch():
    data = module()
    data.setup("fit")
    graphs = list(data.graphs)
    data.setup("test")
    assert all(a is b for a, b in zip(graphs, data.graphs, strict=True))
    (batch,) = data.train_dataloader()
    assert isinstance(batch, ReplicaBatch)
    assert all(a is b for a, b in zip(batch.graphs, graphs, strict=True))
    assert batch.features.shape == (len(graphs), 60, data.k)
    for loader in (data.val_dataloader(), data.test_dataloader(), data.predict_dataloader()):
        assert list(loader) == [batch]


def test_describe_holds_plain_values_that_identify_the_data():
    data = module(barabasi_albert, NormalBlockAngles(3), eta=0.25, k=2, inlier_noise=0.5)
    assert data.describe() == {
        "graph": "barabasi_albert",
        "angles": "NormalBlockAngles",
        "n": 60,
        "p": 0.15,
        "eta": 0.25,
        "k": 2,
        "orientation": "random",
        "inlier_noise": 0.5,
    }


def test_describe_looks_inside_partials():
    data = module(partial(erdos_renyi), partial(GammaAngles(2.0)))
    assert (data.describe()["graph"], data.describe()["angles"]) == ("erdos_renyi", "GammaAngles")


def test_networks_with_and_without_loaders_are_the_same():
    options = {"n": 40, "p": 0.3, "eta": 0.2, "seeds": [1]}
    plain = SyntheticNetworks(erdos_renyi, GammaAngles(), **options)
    module = SyntheticDataModule(erdos_renyi, GammaAngles(), **options)
    assert isinstance(module, SyntheticNetworks)
    assert not hasattr(plain, "train_dataloader")
    np.testing.assert_array_equal(plain.graphs[0].offset, module.graphs[0].offset)


@pytest.mark.parametrize("kind", [Networks, SyncDataModule])
def test_a_data_set_needs_make_graph_alone(kind, make_multigraph):
    class Own(kind):
        def make_graph(self, seed):
            return make_multigraph(seed)

    data = Own(k=1, seeds=[0, 1])
    assert [graph.num_nodes for graph in data.graphs] == [12, 12]
    assert data.describe() == {"k": 1}
    with pytest.raises(NotImplementedError):
        _ = kind(seeds=[0]).graphs
