"""The paper's losses, steps and network on n × n matrices, one replica, gradients by autograd.

For graphs in which a pair of nodes is measured at most once. `mask` says where A has an entry, so
that an offset of exactly 0 counts as the measurement that it is.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gnnsync import MeasurementGraph

TWO_PI = 2 * torch.pi


@dataclass(frozen=True)
class Dense:
    """A, where it has entries, edge weights of mean 1, and H (all n × n)."""

    a: Tensor
    mask: Tensor
    weight: Tensor
    hermitian: Tensor


def dense(graph: MeasurementGraph, dtype: torch.dtype = torch.float64) -> Dense:
    assert graph.num_parallel == 0
    n = graph.num_nodes
    src, dst = torch.tensor(graph.edge_index)
    a, mask, weight, trust = (torch.zeros(n, n, dtype=dtype) for _ in range(4))
    a[src, dst] = torch.tensor(graph.offset, dtype=dtype)
    mask[src, dst] = 1.0
    trust[src, dst] = torch.tensor(graph.edge_weight, dtype=dtype)
    weight[src, dst] = torch.tensor(graph.edge_weight / graph.edge_weight.mean(), dtype=dtype)
    return Dense(a, mask, weight, hermitian(a, trust))


def hermitian(a: Tensor, weight: Tensor) -> Tensor:
    """H_ij = w_ij exp(i A_ij) where A has an entry, H_ji its conjugate."""
    upper = weight * torch.exp(1j * a)
    return upper + upper.conj().T


def residuals(r: Tensor, d: Dense) -> Tensor:
    """M⁽ˡ⁾ (k, n, n)."""
    matrices = []
    for column in r.T:
        t = torch.remainder(column[:, None] - column[None, :], TWO_PI)
        one, other = torch.remainder(t - d.a, TWO_PI), torch.remainder(d.a - t, TWO_PI)
        matrices.append(torch.minimum(one, other) * d.mask)
    return torch.stack(matrices)


def upset_loss(r: Tensor, d: Dense, norm: str = "mean") -> Tensor:
    """‖M‖_F / t or ‖M‖₁ / t."""
    m = residuals(r, d).min(dim=0).values
    t = d.mask.sum()
    if norm == "frobenius":
        return torch.sqrt((d.weight * m**2).sum()) / t
    return (d.weight * m).sum() / t


def reweighted_offsets(m: Tensor, d: Dense) -> Tensor:
    """A ⊙ C̃."""
    c = d.mask / (1 + m)
    return d.a * c * d.a.sum() / (d.a * c).sum()


def assignment(per_group: Tensor, d: Dense) -> Tensor:
    """g (n, n), made symmetric; -1 where nothing is measured."""
    g = torch.where(d.mask > 0, per_group.argmin(dim=0), -1)
    return torch.maximum(g, g.T)


def cycle_loss(r: Tensor, d: Dense, variance_weight: float = 0.0, average: str = "group") -> Tensor:
    """Mean over groups of the mean over ordered triples (i, j, q) that close a triangle.

    The released code divides by the number of all closed triples (`average="all"`), and subtracts
    the mean over groups of the unbiased variance of the entries of Ã⁽ˡ⁾.
    """
    per_group = residuals(r, d)
    g = assignment(per_group, d)
    weighted = reweighted_offsets(per_group.min(dim=0).values, d)
    a = torch.remainder(weighted - weighted.T, TWO_PI)
    s = a[:, :, None] + a[None, :, :] + a.T[:, None, :]
    inconsistency = torch.minimum(torch.remainder(s, TWO_PI), torch.remainder(-s, TWO_PI))
    loss = torch.zeros((), dtype=r.dtype)
    k = r.shape[1]
    measured = g >= 0
    closed = measured[:, :, None] & measured[None, :, :] & measured.T[:, None, :]
    for group in range(k):
        own = g == group
        inside = own[:, :, None] & own[None, :, :] & own.T[:, None, :]
        if inside.any():
            number = (closed if average == "all" else inside).sum()
            loss = loss + inconsistency[inside].sum() / (k * number)
        if variance_weight and own.any():
            loss = loss - variance_weight * a[own].var(unbiased=True) / k
    return loss


def projected_gradient(r: Tensor, d: Dense, alpha: Tensor, separate: bool = False) -> Tensor:
    """Algorithm 1; with `separate`, H⁽ˡ⁾ from the assignment under the initial angles."""
    g = assignment(residuals(r.detach(), d), d)
    columns = []
    for group, y in enumerate(r.T):
        h = d.hermitian * (g == group) if separate else d.hermitian
        for a in alpha:
            phase = torch.exp(1j * y)
            y = torch.angle(a * phase + h @ phase)
        columns.append(y)
    return torch.stack(columns, dim=1)


def row_normalised(a: Tensor, tau: float) -> Tensor:
    """D̃⁻¹ (A + τI)."""
    with_loop = a + tau * torch.eye(len(a), dtype=a.dtype)
    return with_loop / with_loop.sum(dim=1, keepdim=True)


def dimpa_side(
    x: Tensor,
    normalised: Tensor,
    w0: Tensor,
    w1: Tensor,
    hop_weight: Tensor,
    dropout: Callable[[Tensor], Tensor] = lambda hidden: hidden,
) -> Tensor:
    """Z_s from A_s, or Z_t from A_t (n, hidden)."""
    path = dropout(torch.relu(x @ w0)) @ w1
    z = hop_weight[0] * path
    for weight in hop_weight[1:]:
        path = normalised @ path
        z = z + weight * path
    return z


def initial_angles(source: Tensor, target: Tensor, vector: Tensor, bias: Tensor) -> Tensor:
    """2π sigmoid(z·a + b): group l has its own columns of Z_s and of Z_t. `vector` is (k, 2d)."""
    k, both = vector.shape
    d = both // 2
    columns = []
    for group in range(k):
        own = slice(group * d, (group + 1) * d)
        z = torch.cat([source[:, own], target[:, own]], dim=1)
        columns.append(TWO_PI * torch.sigmoid(z @ vector[group] + bias[group]))
    return torch.stack(columns, dim=1)
