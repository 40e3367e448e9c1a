import warnings

import networkx as nx
import numpy as np
import pytest
import torch

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.anchors import FileAnchors, GivenAnchors, ShareAnchors
from gnnsync.angles import circular_distance
from gnnsync.cli.run import main as run
from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.errors import CheckpointError, ParameterError
from gnnsync.learn import GNNSyncInductive
from gnnsync.learn.inductive.method import stored_network
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.weights import save_weights
from gnnsync.methods import DisconnectedGraphWarning
from gnnsync.metrics import angular_mse
from tests.methods.networks import SHAPES, observed, pairs_of, synthetic


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Weights of a network that was not trained: annealed belief propagation."""
    path = tmp_path_factory.mktemp("weights") / "untrained.safetensors"
    save_weights(path, UnrolledPropagation())
    return str(path)


def test_by_name_and_with_the_weights_of_the_package():
    graph = synthetic(0.5, 0.1, n=80, p=0.3)
    solution = gnnsync.solve(graph, "gnnsync_inductive")
    assert angular_mse(solution.angles, graph.angles) < 0.02
    assert solution.diagnostics["eta"] == pytest.approx(0.5, abs=0.1)
    assert sum(p.numel() for p in stored_network(None).parameters()) < 100_000


@pytest.mark.parametrize("shape", SHAPES)
def test_exact_offsets_are_solved_with_polish(shape):
    graph = observed(SHAPES[shape], seed=5)
    solution = GNNSyncInductive()(graph)
    assert angular_mse(solution.angles, graph.angles) < 1e-8
    assert (solution.edge_confidence[~graph.bridges] > 0.9).all()
    assert np.isnan(solution.edge_confidence[graph.bridges]).all()


@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize(
    ("k", "pairs"), [(2, erdos_renyi), (3, erdos_renyi), (2, random_geometric)]
)
def test_several_groups(k, pairs, polish):
    graph = synthetic(0.1, 0.05, k=k, n=120, p=0.4, pairs=pairs)
    solution = GNNSyncInductive(polish=polish)(graph, k)
    assert solution.angles.shape == (120, k)
    assert angular_mse(solution.angles, graph.angles) < 0.02
    right = solution.edge_confidence > 0.5
    assert (right == (graph.group >= 0)).mean() > 0.85


@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize(
    "graph",
    [
        MeasurementGraph(np.zeros((2, 0), dtype=np.int64), np.zeros(0), 1),
        MeasurementGraph(np.zeros((2, 0), dtype=np.int64), np.zeros(0), 3),
        MeasurementGraph(np.array([[0], [1]]), np.array([1.0]), 2),
        MeasurementGraph(np.array([[0, 1, 0], [1, 0, 1]]), np.array([1.0, 5.28, 1.0]), 2),
        MeasurementGraph(pairs_of(nx.star_graph(5)), np.arange(5.0), 6),
    ],
    ids=["a node", "no edges", "an edge", "parallel edges", "a star"],
)
def test_small_graphs(graph, polish):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        solution = GNNSyncInductive(polish=polish)(graph)
    assert np.isfinite(solution.angles).all()
    if graph.num_edges:
        assert np.abs(graph.residual(solution.angles)).max() < (1e-2 if polish else 0.1)
    for confidence in (solution.node_confidence, solution.edge_confidence):
        stated = np.zeros(0) if confidence is None else confidence[np.isfinite(confidence)]
        assert ((stated >= 0) & (stated <= 1)).all()


def two_components(eta=0.3, seed=0):
    one, two = (synthetic(eta, 0.05, n=60, p=0.3, seed=seed + i) for i in range(2))
    return MeasurementGraph(
        np.concatenate([one.edge_index, two.edge_index + 60], axis=1),
        np.concatenate([one.offset, two.offset]),
        120,
        angles=np.concatenate([one.angles, two.angles]),
    )


@pytest.mark.parametrize("polish", [False, True])
def test_components_are_solved_one_by_one(polish):
    graph = two_components()
    with pytest.warns(DisconnectedGraphWarning):
        solution = GNNSyncInductive(polish=polish)(graph)
    for nodes in (slice(0, 60), slice(60, 120)):
        assert angular_mse(solution.angles[nodes], graph.angles[nodes]) < 0.01


@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize(
    ("pairs", "k", "eta"),
    [(erdos_renyi, 1, 0.5), (random_geometric, 1, 0.2), (erdos_renyi, 2, 0.1)],
)
def test_anchors_are_held_and_fix_the_rotation(pairs, k, eta, polish):
    graph, anchors = synthetic(eta, 0.05, k=k, n=100, p=0.3, pairs=pairs), ShareAnchors(0.1)
    solution = GNNSyncInductive(polish=polish, anchors=anchors)(graph, k)
    off = circular_distance(solution.angles, graph.angles)
    known = np.isfinite(anchors(graph, k))
    assert off[known].max() < 1e-12
    assert (off < 0.3).mean() > 0.95
    assert solution.node_confidence[known.all(axis=1)].min() == 1.0


def test_anchors_lower_the_error_of_the_other_nodes():
    plain, held = [], []
    for seed in range(3):
        graph, anchors = synthetic(0.75, 0.1, n=80, p=0.2, seed=seed), ShareAnchors(0.5)
        other = ~np.isfinite(anchors(graph, 1))[:, 0]
        for errors, method in (
            (plain, GNNSyncInductive(polish=False)),
            (held, GNNSyncInductive(polish=False, anchors=anchors)),
        ):
            errors.append(angular_mse(method(graph).angles[other], graph.angles[other]))
    assert np.mean(held) < 0.7 * np.mean(plain)


def test_anchors_of_components_and_from_files(tmp_path):
    graph, path = two_components(), tmp_path / "known.csv"
    path.write_text("".join(f"{i},{float(graph.angles[i, 0])!r}\n" for i in (3, 4, 70, 80)))
    solution = GNNSyncInductive(anchors=FileAnchors(str(path)))(graph)
    off = circular_distance(solution.angles, graph.angles)
    assert off[[3, 4, 70, 80]].max() < 1e-12
    assert off.max() < 0.3
    only_first = np.where(np.arange(120) < 5, graph.angles[:, 0], np.nan)[:, None]
    solution = GNNSyncInductive(anchors=GivenAnchors(only_first))(graph)
    assert circular_distance(solution.angles, graph.angles)[:60].max() < 0.3
    assert angular_mse(solution.angles[60:], graph.angles[60:]) < 0.01


def test_trusted_edges_matter():
    """Twenty trusted inliers among as many outliers as the offsets alone do not survive."""
    plain, helped = [], []
    for seed in range(4):
        graph = synthetic(0.8, 0.1, n=100, p=0.2, seed=seed)
        rng = np.random.default_rng(seed)
        trusted = (graph.group >= 0) & (rng.random(graph.num_edges) < 0.4)
        for errors, known in ((plain, None), (helped, trusted)):
            solution = GNNSyncInductive(polish=False)(graph.replace(trusted=known))
            errors.append(angular_mse(solution.angles, graph.angles))
    assert np.mean(helped) < 0.7 * np.mean(plain)


def test_weights_of_edges_matter():
    """Half of the edges have a noise of .05, the others of .9: σ²/w states it."""
    plain, weighted = [], []
    for seed in range(4):
        graph, rng = synthetic(0.3, 0.0, n=80, p=0.15, seed=seed), np.random.default_rng(seed)
        noise = np.where(rng.random(graph.num_edges) < 0.5, 0.05, 0.9)
        graph = graph.replace(offset=graph.offset + noise * rng.standard_normal(len(noise)))
        for errors, weight in ((plain, None), (weighted, noise**-2)):
            solution = GNNSyncInductive(polish=False)(graph.replace(weight=weight))
            errors.append(angular_mse(solution.angles, graph.angles))
    assert np.mean(weighted) < 0.8 * np.mean(plain)


def test_the_scale_of_the_weights_does_not_matter():
    graph, rng = synthetic(0.5, 0.1, n=60, p=0.3), np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, graph.num_edges)
    one, other = (
        GNNSyncInductive(polish=False)(graph.replace(weight=scale * weight)).angles
        for scale in (1.0, 50.0)
    )
    assert angular_mse(one, other) < 1e-6


def test_other_weights_layers_and_seeds(weights):
    graph = synthetic(0.4, 0.1, n=60, p=0.4)
    method = GNNSyncInductive(weights=weights, layers=25, polish=False)
    solution = method(graph)
    assert solution.iterations == 25
    assert angular_mse(solution.angles, graph.angles) < 0.05
    assert np.array_equal(method(graph, seed=1).angles, method(graph, seed=1).angles)
    assert stored_network(weights) is stored_network(weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "nowhere.safetensors"}, "weights = 'nowhere.safetensors': must be the name"),
        ({"layers": 0}, "layers = 0"),
        ({"polish": 1}, "polish = 1"),
        ({"finetune_loss": "mse"}, "finetune_loss = 'mse': must be one of upset, cycle"),
        ({"finetune_steps": 0}, "finetune_steps = 0"),
        ({"finetune_lr": 0}, "finetune_lr = 0"),
        ({"device": "abacus"}, "device = 'abacus': must be a torch device"),
        ({"device": "meta"}, "device = 'meta': must be a torch device"),
        ({"refine": 5, "anchors": ShareAnchors()}, "refine = 5: must be 0 with anchors"),
    ],
)
def test_bad_parameters_are_one_line(options, message):
    with pytest.raises(ParameterError, match=message) as error:
        GNNSyncInductive(**options)
    assert "\n" not in str(error.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="the device exists")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match="device = 'cuda'"):
        GNNSyncInductive(device="cuda")


def test_a_file_that_holds_no_weights_is_refused(tmp_path):
    path = tmp_path / "text.safetensors"
    path.write_text("no weights")
    with pytest.raises(CheckpointError, match="not a safetensors file"):
        GNNSyncInductive(weights=str(path))(synthetic(0.3, n=20, p=0.5))


SMALL = ["method=gnnsync_inductive", "data.n=40", "data.p=0.4", "data.seeds=[1]", "trials=1"]


def test_a_job_does_not_train(tmp_path, monkeypatch, weights):
    command = [*SMALL, "anchors=share", f"method.weights={weights}", f"output_dir={tmp_path}"]
    monkeypatch.setattr("sys.argv", ["gnnsync run", *command])
    assert not run()
    (folder,) = {path.parent.resolve() for path in tmp_path.rglob("result.json")}
    assert not list(folder.rglob("*.ckpt"))


@pytest.mark.parametrize(
    "override", ["method.weights=nowhere.ckpt", "method.device=abacus", "method.weights=FILE"]
)
def test_a_job_with_a_bad_parameter_ends_with_one_line(tmp_path, monkeypatch, capsys, override):
    (tmp_path / "text.safetensors").write_text("no weights")
    override = override.replace("FILE", str(tmp_path / "text.safetensors"))
    monkeypatch.setattr("sys.argv", ["gnnsync run", *SMALL, override, f"output_dir={tmp_path}"])
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(run())
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert override.partition("=")[0].partition(".")[2] in line
