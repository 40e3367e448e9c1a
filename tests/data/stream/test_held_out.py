import numpy as np
import pytest

from gnnsync.data.stream import TEST, VALIDATION, Cell, GraphLaw, HeldOutNetworks
from gnnsync.data.stream.families import FAMILIES
from gnnsync.data.stream.held_out import HELD_OUT, group_numbers
from gnnsync.data.stream.laws import INLIER_LAWS, PRIORS
from gnnsync.errors import ParameterError

SMALL = [
    Cell("a", "erdos_renyi", 40, 8, 0.2, 0.1, networks=2),
    Cell("b", "grid", 30, 6, 0.1, 0.0, networks=3),
    Cell("c", "erdos_renyi", 40, 20, 0.1, 0.1, k=2),
]


def test_cells_have_names_and_networks_of_their_own():
    for k, names in ((1, ["a", "b"]), (2, ["c"])):
        data = HeldOutNetworks(k=k, cells=SMALL)
        assert [name for name, _ in data.cells] == names
        assert [i for _, numbers in data.cells for i in numbers] == list(range(len(data.graphs)))
    data = HeldOutNetworks(cells=SMALL)
    sizes = [data.graphs[i].num_nodes for i in dict(data.cells)["b"]]
    assert sizes == [30, 30, 30]


def test_a_network_depends_on_its_cell_and_number_alone():
    whole, part = HeldOutNetworks(cells=SMALL), HeldOutNetworks(cells=SMALL, names=["b"])
    for first, second in zip(whole.graphs[2:], part.graphs, strict=True):
        np.testing.assert_array_equal(first.offset, second.offset)
        np.testing.assert_array_equal(first.edge_index, second.edge_index)
    assert part.describe() == {
        "graph": "validation",
        "cell": "b",
        "k": 1,
        "family": "grid",
        "n": 30,
        "degree": 6,
        "eta": 0.1,
        "sigma": 0.0,
        "inliers": "normal",
        "outliers": "uniform",
        "prior": "uniform",
        "networks": 3,
    }
    assert whole.describe() == {"graph": "validation", "cell": "a, b", "k": 1}


def test_seeds_of_the_sets_are_disjoint():
    seeds = [seed for cell in VALIDATION + TEST for seed in cell.seeds]
    assert len(set(seeds)) == len(seeds)
    assert len({cell.name for cell in VALIDATION + TEST}) == len(VALIDATION + TEST)


def test_generators_are_not_those_of_training():
    # Entropy is padded with zeros, so [s, i] and [s, i, 0, 0] are one; a fourth word is not.
    seed = VALIDATION[0].seeds[0]
    states = {
        np.random.default_rng(entropy).bytes(16)
        for entropy in ([seed, 0], [seed, HELD_OUT], [seed, 0, 0, HELD_OUT], [0, seed])
    }
    assert len(states) == 4


@pytest.mark.parametrize("split", ["validation", "test"])
def test_the_cells_are_as_stated(split):
    cells = VALIDATION if split == "validation" else TEST
    for k in group_numbers(cells):
        data = HeldOutNetworks(split, k)
        of_name = {cell.name: cell for cell in cells}
        for name, numbers in data.cells:
            cell, graphs = of_name[name], [data.graphs[i] for i in numbers]
            assert len(graphs) == cell.networks
            outliers = np.concatenate([g.group < 0 for g in graphs])
            deviation = np.sqrt(0.25 / len(outliers))
            assert outliers.mean() == pytest.approx(cell.eta, abs=4 * deviation)
            degree = np.mean([2 * g.num_edges / g.num_nodes for g in graphs])
            assert degree == pytest.approx(cell.degree, rel=0.1)
            for graph in graphs:
                assert graph.is_connected
                assert graph.angles.shape == (cell.n, cell.k)


def test_every_test_cell_has_something_that_training_lacks():
    most = GraphLaw().nodes[1]
    for cell in TEST:
        assert (
            cell.family not in FAMILIES
            or cell.inliers not in INLIER_LAWS
            or cell.prior not in PRIORS
            or cell.n > most
        )
    assert {cell.family for cell in VALIDATION} == set(FAMILIES)


def test_errors_name_the_field():
    with pytest.raises(ParameterError, match="family = 'tree'"):
        Cell("x", "tree", 20, 4, 0.1, 0.1)
    with pytest.raises(ParameterError, match="k = 7"):
        HeldOutNetworks(k=7)
    with pytest.raises(ParameterError, match="names = 'z'"):
        HeldOutNetworks(cells=SMALL, names=["z"])
    with pytest.raises(ParameterError, match="seed = 3"):
        HeldOutNetworks(cells=SMALL).make_graph(3)
