import pytest
import torch

from gnnsync.learn.head import AngleHead, ResidualHead
from gnnsync.learn.replicas import replica_generators
from tests.oracles import dense as oracle


@pytest.mark.parametrize("k", [1, 2, 3])
def test_agrees_with_the_dense_oracle(k):
    replicas, n, width = 3, 7, 4
    head = AngleHead(replicas, k, 2 * width).double()
    head.reset_parameters(replica_generators([1, 2, 3]))
    with torch.no_grad():
        head.bias.normal_()
    z = torch.randn(replicas, n, k, 2, width, dtype=torch.float64)
    found = head(z.flatten(3), z)
    assert found.shape == (replicas, n, k)
    for r in range(replicas):
        source, target = z[r, :, :, 0].flatten(1), z[r, :, :, 1].flatten(1)
        vector, bias = head.vector[r, :, :, 0], head.bias[r].flatten()
        torch.testing.assert_close(found[r], oracle.initial_angles(source, target, vector, bias))


def test_angles_lie_in_the_open_circle():
    head = AngleHead(1, 1, 2)
    head.reset_parameters(replica_generators([0]))
    found = head(10 * torch.randn(1, 50, 1, 2), torch.zeros(1, 50, 1))
    assert found.min() >= 0
    assert found.max() <= 2 * torch.pi


def test_reset_draws_each_replica_from_its_own_generator():
    both, alone = AngleHead(2, 2, 6), AngleHead(1, 2, 6)
    both.reset_parameters(replica_generators([5, 9]))
    alone.reset_parameters(replica_generators([9]))
    assert torch.equal(both.vector[1], alone.vector[0])
    assert not torch.equal(both.vector[0], alone.vector[0])
    assert not both.bias.any()


def test_repr():
    assert repr(AngleHead(2, 3, 4)) == "AngleHead(replicas=2, groups=3, embedding=4)"


def test_calibrated_scores_have_the_spread_asked_for_and_rise_with_the_features():
    generator = torch.Generator().manual_seed(0)
    z = 20 * torch.randn(3, 50, 2, 4, generator=generator, dtype=torch.float64)
    features = torch.rand(3, 50, 2, generator=generator, dtype=torch.float64)
    head = AngleHead(3, 2, 4).double()
    head.reset_parameters([torch.Generator().manual_seed(r) for r in range(3)])
    head.calibrate(z, features, 0.5)
    score = head.score(z) + head.bias
    assert torch.allclose(score.mean(dim=1), torch.zeros(3, 2, dtype=torch.float64), atol=1e-9)
    assert torch.allclose(score.std(dim=1, correction=0), torch.full((3, 2), 0.5).double())
    assert ((score * (features - features.mean(dim=1, keepdim=True))).sum(dim=1) >= 0).all()


def test_calibration_leaves_a_constant_embedding_finite():
    head = AngleHead(1, 1, 4)
    head.reset_parameters([torch.Generator().manual_seed(0)])
    head.calibrate(torch.zeros(1, 5, 1, 4), torch.rand(1, 5, 1), 0.5)
    assert torch.isfinite(head(torch.zeros(1, 5, 1, 4), torch.zeros(1, 5, 1))).all()


def test_residual_head_starts_at_the_features_and_corrects_by_at_most_its_bound():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(2, 20, 3, 4, generator=generator)
    features = 7 * torch.rand(2, 20, 3, generator=generator)
    head = ResidualHead(2, 3, 4, bound=0.5)
    head.reset_parameters(replica_generators([0, 1]))
    head.calibrate(z, features, 0.25)
    assert torch.equal(head(z, features), features)
    with torch.no_grad():
        head.vector.normal_(std=100.0, generator=generator)
    moved = head(z, features) - features
    assert 0.4 < moved.abs().max() <= 0.5 + 1e-5
    torch.testing.assert_close(head(z, features + 1.0), head(z, features) + 1.0)
    assert repr(head) == "ResidualHead(replicas=2, groups=3, embedding=4, bound=0.5)"
    assert (z * head.scale.unsqueeze(-1)).square().mean(dim=(1, 3)).allclose(torch.tensor(0.0625))
