import numpy as np
import pytest

from gnnsync.plots.run import angle_figure, loss_figure
from tests.plots.images import image


def test_loss_is_the_mean_over_replicas_and_skips_what_is_not_finite():
    train = np.array([[3.0, 1.0], [2.0, np.nan], [1.0, np.inf]])
    figure = loss_figure({"train": train, "eval": train / 2})
    (axes,) = figure.axes
    first, second = axes.lines
    assert np.allclose(first.get_ydata(), [2, 2, 1])
    assert np.allclose(second.get_ydata(), [1, 1, 0.5])
    assert np.array_equal(first.get_xdata(), [1, 2, 3])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["train", "eval"]
    assert image(figure).std() > 0


@pytest.mark.parametrize(("k", "columns"), [(1, 1), (2, 2)])
def test_angles_against_the_truth_after_alignment(rng, k, columns):
    truth = rng.uniform(0, 2 * np.pi, (30, k))
    features = truth + rng.normal(size=truth.shape) if columns == 2 else None
    figure = angle_figure(truth + 1.0, truth, features, "gpm")
    assert len(figure.axes) == k * columns
    own = figure.axes[columns - 1]
    assert own.get_title() == "gpm: MSE 0.000"
    points = own.collections[0].get_offsets()
    assert np.abs(points[:, 0] - points[:, 1]).max() < 1e-9
    assert image(figure).std() > 0
