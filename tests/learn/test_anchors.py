import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph
from gnnsync.angles import circular_distance
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.errors import DataFileError, GraphError, ParameterError
from gnnsync.learn import GNNSync, Training, gnnsync_plus
from gnnsync.learn.anchors import AnchoredLoss, FileAnchors, NoAnchors, ShareAnchors, anchored
from gnnsync.learn.features import MethodFeatures
from gnnsync.learn.losses import DefaultLoss, RobustLoss, UpsetLoss
from gnnsync.learn.steps import BeliefSteps, Reweighted
from gnnsync.methods import SpectralRN
from gnnsync.metrics import angular_mse


def network(eta=0.0, k=1, n=60, p=0.2, seed=0):
    rng = np.random.default_rng(seed)
    return observe(erdos_renyi(n, p, seed), rng.uniform(0, 2 * np.pi, (n, k)), eta, rng=rng)


def method(anchors, max_steps=30, **changes):
    return gnnsync_plus(
        features=MethodFeatures(SpectralRN()),
        training=Training(max_steps=max_steps, steps_per_epoch=10, accelerator="cpu"),
        anchors=anchors,
        **changes,
    )


@pytest.mark.parametrize(
    "make",
    [
        method,
        lambda anchors: GNNSync(
            anchors=anchors, training=Training(max_steps=30, accelerator="cpu")
        ),
    ],
    ids=["plus", "plain"],
)
def test_anchors_pin_the_rotation(make):
    """With exact offsets all angles come out as they are, not up to a rotation."""
    graph = network()
    anchors = ShareAnchors(0.05)
    off = circular_distance(make(anchors)(graph).angles, graph.angles)
    assert off.max() < 0.2
    known = np.isfinite(anchors(graph, 1))
    assert known.sum() == 3
    assert off[known].max() < 1e-12


def test_anchors_lower_the_error_of_the_other_nodes():
    """Where offsets alone are hopeless, the votes of known neighbours are not."""
    errors = []
    for seed in range(2):
        graph = network(eta=0.7, p=0.12, n=80, seed=seed)
        anchors = ShareAnchors(0.5)
        other = ~np.isfinite(anchors(graph, 1))[:, 0]
        found = [
            method(a, steps=BeliefSteps, max_steps=10)(graph).angles[other]
            for a in (NoAnchors(), anchors)
        ]
        errors.append([angular_mse(f, graph.angles[other]) for f in found])
    without, with_anchors = np.mean(errors, axis=0)
    assert with_anchors < 0.7 * without


@pytest.mark.parametrize("kind", [Reweighted, BeliefSteps])
def test_steps_hold_known_angles(kind, make_batch, random_angles):
    batch = make_batch(graphs=2, trials=2)
    angles = random_angles(batch, 2).detach()
    known = torch.full_like(angles, torch.nan)
    known[1, 3, 0] = 1.25
    steps = kind(4).double()
    free = steps(angles, batch)
    batch.known = known
    held = steps(angles, batch)
    assert held[1, 3, 0] == 1.25
    torch.testing.assert_close(held[[0, 2, 3]], free[[0, 2, 3]])
    assert (held[1] - free[1]).abs().max() > 1e-3


def test_sets_are_matched_and_turned():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 2 * np.pi, (30, 3))
    known = np.where(np.arange(30)[:, None] < 4, truth, np.nan)
    mixed = truth[:, [2, 0, 1]] + [1.0, 2.0, 3.0]
    assert circular_distance(anchored(mixed, known), truth).max() < 1e-9


def test_replicas_have_their_own_anchors():
    graphs = [network(0.5, seed=0), network(0.5, seed=1)]
    fitted = method(ShareAnchors(0.1)).fit(graphs, seeds=[1, 2, 3, 4], trials=2)
    for r, solution in enumerate(fitted.solutions):
        graph = graphs[r // 2]
        known = ShareAnchors(0.1)(graph, 1)
        told = np.isfinite(known)
        assert circular_distance(solution.angles[told], known[told]).max() < 1e-12


def test_the_term_counts_known_angles_alone(make_batch, random_angles):
    batch = make_batch(graphs=2, trials=1)
    angles = random_angles(batch, 2)
    known = torch.full_like(angles, torch.nan)
    known[0, :3] = angles.detach()[0, :3] + torch.pi
    known[1, 2, 0] = angles.detach()[1, 2, 0]
    batch.known = known
    loss = AnchoredLoss(UpsetLoss(), weight=0.5)
    added = loss(angles, batch) - UpsetLoss()(angles, batch)
    torch.testing.assert_close(added, torch.tensor([1.0, 0.0], dtype=torch.float64))
    assert torch.autograd.gradcheck(lambda y: AnchoredLoss(RobustLoss().double())(y, batch), angles)
    assert "weight=0.5" in repr(loss)


def test_a_loss_with_parameters_is_still_calibrated():
    graph = network(0.3)
    own = method(ShareAnchors(0.1))
    module = own.build(own.prepare([graph]))
    assert module.loss.loss.eta.shape == (1,)
    assert module.loss.loss.eta.item() == pytest.approx(0.3, abs=0.15)


def named_graph():
    return MeasurementGraph.from_edges("aab", "bcc", [0.5, 1.5, 1.0])


@pytest.mark.parametrize(
    "text", ["node,angle\nb,90\n c , 180\n", "b 90\nc 180", "# x\n", "b;90\n\nc;180\n"]
)
def test_files(text, tmp_path):
    path = tmp_path / "known.csv"
    path.write_text(text)
    anchors = FileAnchors(str(path), unit="degrees")
    if text.startswith("#"):
        with pytest.raises(DataFileError, match="holds no angle"):
            anchors(named_graph(), 1)
        return
    known = anchors(named_graph(), 1)
    np.testing.assert_allclose(known[1:, 0], [np.pi / 2, np.pi])
    assert np.isnan(known[0, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b,1\nz,1\n", r"line 2: no node is called 'z'"),
        ("b,1\nc,x\n", r"line 2: angle 'x' is not a number"),
        ("b,1\nc,nan\n", r"line 2: angle 'nan'"),
        ("b,1,2\n", r"line 1: 3 fields: must be node and 1 angle"),
    ],
)
def test_bad_files_are_told(text, message, tmp_path):
    path = tmp_path / "known.csv"
    path.write_text(text)
    with pytest.raises(DataFileError, match=message):
        FileAnchors(str(path))(named_graph(), 1)


def test_bad_use_is_told(tmp_path):
    with pytest.raises(DataFileError, match="no such file"):
        FileAnchors(str(tmp_path / "none.csv"))(named_graph(), 1)
    with pytest.raises(GraphError, match="need the truth"):
        ShareAnchors(0.1)(named_graph(), 1)
    with pytest.raises(ParameterError, match="k = 2"):
        ShareAnchors(0.1)(network(), 2)
    for make, name in (
        (lambda: ShareAnchors(0.0), "share"),
        (lambda: ShareAnchors(seed=-1), "seed"),
        (lambda: FileAnchors(""), "path"),
        (lambda: FileAnchors("x", unit="grad"), "unit"),
        (lambda: GNNSync(anchor_weight=-1.0), "anchor_weight"),
    ):
        with pytest.raises(ParameterError, match=name):
            make()


def test_no_anchors_change_nothing(make_graph):
    graph = make_graph(1)
    assert NoAnchors()(graph, 1) is None
    assert isinstance(GNNSync().build(GNNSync().prepare([graph])).loss, DefaultLoss)
